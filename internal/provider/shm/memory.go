package shm

import (
	"context"
	"errors"
	"slices"
	"unsafe"

	"thundercollective/fabric"
	"thundercollective/internal/spin"
)

var _ fabric.Memory = (*memory)(nil)

// memory implements fabric.Memory.
type memory struct {
	f     *Fabric
	ranks []int
	rank  int     // this one's place in the list
	pairs []*pair // by place; nil for this rank
	links []*link // by place; nil for this rank
	board *board
	reads bool
}

// Memory implements fabric.Fabric. Ranks that are not near each other are not asked.
func (f *Fabric) Memory(ctx context.Context, ch fabric.Channel, ranks []int) (fabric.Memory, error) {
	elsewhere := func(r int) bool { return r != f.Rank() && !f.cfg.Near(r) }
	if len(ranks) < 2 || slices.ContainsFunc(ranks, elsewhere) {
		return nil, nil
	}
	a := agreement{f: f, ctx: ctx, ch: ch, ranks: ranks, links: make([]fabric.Link, len(ranks)), pages: make([]*segment, len(ranks))}
	err := a.reach()
	if err != nil || a.trouble != nil {
		for _, s := range a.pages {
			s.closeIfAny()
		}
		if err == nil {
			f.cfg.Logger.Debug("ranks of a group share no memory", "why", a.trouble)
		}
		return nil, err
	}
	return a.memory(), nil
}

// memory returns what the ranks have agreed on.
func (a *agreement) memory() *memory {
	n := len(a.ranks)
	m := &memory{f: a.f, ranks: slices.Clone(a.ranks), rank: a.rank, pairs: make([]*pair, n), links: make([]*link, n), reads: a.reads}
	b := &board{progress: a.f.progressOf(a.ch), rank: a.rank, round: 1, showed: -1, links: m.links, segments: a.pages}
	b.spin = spin.Spinner{Budget: a.f.cfg.Spin, Shared: a.f.cfg.Crowded}
	for i, r := range a.ranks {
		if i != a.rank {
			m.pairs[i], m.links[i] = a.f.met(r), a.links[i].(*link)
		}
		p := (*page)(unsafe.Pointer(unsafe.SliceData(a.pages[i].body())))
		b.places = append(b.places, newPlace(m.links[i], p))
		b.swaps = append(b.swaps, p.swap[:])
	}
	m.board = b
	return m
}

// Board implements fabric.Memory.
func (m *memory) Board() fabric.Board { return m.board }

// Share implements fabric.Memory.
func (m *memory) Share(b []byte) (fabric.Handle, bool) { return m.f.shared.share(b) }

// Map implements fabric.Memory.
func (m *memory) Map(peer int, h fabric.Handle, n int) ([]byte, error) {
	return m.f.shared.reach(m.pairs[peer], h, n)
}

// Reads implements fabric.Memory.
func (m *memory) Reads() bool { return m.reads }

// Locate implements fabric.Memory.
func (m *memory) Locate(b []byte) (fabric.Handle, bool) { return m.f.shared.locate(b) }

// ReadAt implements fabric.Memory.
func (m *memory) ReadAt(peer int, h fabric.Handle, off int, b []byte) error {
	return m.pairs[peer].read(h, off, b)
}

// RoundTrip implements fabric.Memory.
func (m *memory) RoundTrip(ctx context.Context, peer int, tag *fabric.Tag, t *fabric.RoundTrip) error {
	return m.links[peer].roundTrip(ctx, tag, t)
}

// Close implements fabric.Memory.
func (m *memory) Close() error {
	m.board.close()
	return nil
}

// An agreement is how ranks find out whether all of them share memory, and make their
// board. All come to the same result: trouble of one is trouble of all. An error, in
// contrast, means that a peer cannot be reached at all.
type agreement struct {
	f     *Fabric
	ctx   context.Context
	ch    fabric.Channel
	ranks []int

	rank    int           // this one's place in the list
	links   []fabric.Link // by place; nil for this rank
	pages   []*segment    // by place
	reads   bool          // all can read all memory of each other
	trouble error         // why there is no shared memory
}

// each calls do for every peer until one fails.
func (a *agreement) each(do func(i int, l fabric.Link) error) error {
	for i, l := range a.links {
		if l == nil {
			continue
		}
		if err := do(i, l); err != nil {
			return err
		}
	}
	return nil
}

// reach goes through all steps: links, pages, and what all think of them.
func (a *agreement) reach() error {
	if err := a.connect(); err != nil {
		return err
	}
	serial := a.f.nextSerial()
	a.makePage(serial)
	offered := a.trouble == nil
	err := a.exchangePages(offer{serial: serial, possible: offered})
	if err == nil {
		err = a.exchangeAnswers()
	}
	a.pages[a.rank].unlistIfAny()
	if offered && a.trouble != nil && err == nil { // some may not have looked
		_ = a.each(func(i int, _ fabric.Link) error {
			a.pair(i).passage.withdraw(serial)
			return nil
		})
	}
	return err
}

func (a *agreement) pair(i int) *pair { return a.f.met(a.ranks[i]) }

// connect opens the links, in the order of the list so that no ring of ranks waits for
// each other, and looks at what each pair has found out.
func (a *agreement) connect() (err error) {
	a.reads = true
	for i, r := range a.ranks {
		if r == a.f.Rank() {
			a.rank = i
			continue
		}
		if a.links[i], err = a.f.Link(a.ctx, r, a.ch); err != nil {
			return err
		}
		if _, shared := a.links[i].(*link); !shared {
			a.trouble = errors.New("a rank shares no memory")
			continue
		}
		a.reads = a.reads && a.pair(i).reads
	}
	return nil
}

// makePage makes this rank's page of the board, and passes it to the others.
func (a *agreement) makePage(serial uint64) {
	if a.trouble != nil {
		return
	}
	if a.pages[a.rank], a.trouble = newSegment(pageSize, a.f.id, serial); a.trouble != nil {
		return
	}
	a.pages[a.rank].populate()
	a.trouble = a.each(func(i int, _ fabric.Link) error {
		return a.pair(i).passage.pass(serial, a.pages[a.rank])
	})
}

// exchangePages names this rank's page to the others, and maps theirs.
func (a *agreement) exchangePages(mine offer) error {
	if err := a.each(func(_ int, l fabric.Link) error { return sendOffer(a.ctx, l, mine) }); err != nil {
		return err
	}
	return a.each(func(i int, l fabric.Link) error {
		theirs, err := recvOffer(a.ctx, l)
		switch {
		case err != nil || a.trouble != nil:
		case !theirs.possible:
			a.trouble = errors.New("a rank has no page")
		default:
			a.pages[i], a.trouble = a.pair(i).fetch(a.ctx, theirs.serial, pageSize)
		}
		return err
	})
}

// exchangeAnswers settles the result.
func (a *agreement) exchangeAnswers() error {
	mine := answer{trouble: a.trouble, reads: a.reads}
	if err := a.each(func(_ int, l fabric.Link) error { return sendAnswer(a.ctx, l, mine) }); err != nil {
		return err
	}
	return a.each(func(_ int, l fabric.Link) error {
		theirs, err := recvAnswer(a.ctx, l)
		if a.trouble == nil {
			a.trouble = theirs.trouble
		}
		a.reads = a.reads && theirs.reads
		return err
	})
}
