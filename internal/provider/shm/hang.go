package shm

import (
	"context"
	"errors"

	"thundercollective/fabric"
)

// hang makes this rank's page of a board and maps those of the others. All ranks
// come to the same result: trouble of one is trouble of all.
func (f *Fabric) hang(ctx context.Context, b *board, ch fabric.Channel, ranks []int) (trouble, err error) {
	paths := make([]fabric.Link, len(ranks))
	each := func(do func(i int, l fabric.Link) error) error {
		for i, l := range paths {
			if l != nil {
				if err := do(i, l); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i, r := range ranks { // in order, so that no ring of ranks waits for each other
		if r == f.Rank() {
			b.rank = i
			continue
		}
		if paths[i], err = f.Link(ctx, r, ch); err != nil {
			return nil, err
		}
		var shared bool
		if b.links[i], shared = paths[i].(*link); !shared {
			trouble = errors.New("a rank shares no memory")
		}
	}
	mine := offer{serial: f.nextSerial()}
	if trouble == nil {
		b.segments[b.rank], trouble = newSegment(pageSize, f.id, mine.serial)
	}
	if trouble == nil {
		b.segments[b.rank].populate()
		_ = each(func(i int, _ fabric.Link) error {
			if trouble == nil {
				trouble = f.met(ranks[i]).passage.pass(mine.serial, b.segments[b.rank])
			}
			return nil
		})
	}
	mine.possible = trouble == nil
	if err := each(func(_ int, l fabric.Link) error { return sendOffer(ctx, l, mine) }); err != nil {
		return nil, err
	}
	err = each(func(i int, l fabric.Link) error {
		theirs, err := recvOffer(ctx, l)
		switch {
		case err != nil || trouble != nil:
		case !theirs.possible:
			trouble = errors.New("a rank has no page")
		default:
			b.segments[i], trouble = f.met(ranks[i]).fetch(ctx, theirs.serial, pageSize)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := each(func(_ int, l fabric.Link) error { return sendAnswer(ctx, l, answer{trouble: trouble}) }); err != nil {
		return nil, err
	}
	err = each(func(_ int, l fabric.Link) error {
		theirs, err := recvAnswer(ctx, l)
		if trouble == nil {
			trouble = theirs.trouble
		}
		return err
	})
	b.segments[b.rank].unlistIfAny()
	if trouble != nil && mine.possible { // some may not have looked
		_ = each(func(i int, _ fabric.Link) error {
			f.met(ranks[i]).passage.withdraw(mine.serial)
			return nil
		})
	}
	return trouble, err
}
