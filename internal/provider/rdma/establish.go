package rdma

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"thundercollective/fabric"
)

// An UnavailableError reports why there is no RDMA to a peer.
type UnavailableError struct {
	Peer int
	Why  string
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("no RDMA link to rank %d: %s", e.Peer, e.Why)
}

// establish agrees with the peer on a link and makes it. Both ends take the same steps
// and learn of an error at either end in the same step, so that both fall back or both
// fail.
func (f *Fabric) establish(ctx context.Context, peer int, ch fabric.Channel) (fabric.Link, error) {
	boot, err := f.boot.Link(ctx, peer, setupChannels|ch)
	if err != nil {
		return nil, err
	}
	ours := f.inventory.offerTo(peer)
	var theirs offer
	if err := swap(ctx, boot, 1, &ours, &theirs); err != nil {
		return nil, f.setupError(peer, err)
	}
	l, why, err := f.build(ctx, peer, boot, &ours, &theirs)
	if err != nil {
		return nil, f.setupError(peer, err)
	}
	if why == "" {
		f.announce(peer, l, "", slog.LevelInfo)
		l.start()
		return l, nil
	}
	if !ours.Fallback || !theirs.Fallback {
		return nil, &UnavailableError{peer, why}
	}
	level := slog.LevelWarn
	if ours.Plain && theirs.Plain {
		level = slog.LevelDebug // nobody expected RDMA
	}
	f.announce(peer, nil, why, level)
	boot.Close() // no longer needed
	return f.boot.Link(ctx, peer, ch)
}

// setupError returns the error for a failure of the boot fabric during set-up.
func (f *Fabric) setupError(peer int, err error) error {
	var lost *fabric.LostError
	if errors.As(err, &lost) || errors.Is(err, fabric.ErrClosed) {
		return err
	}
	return fmt.Errorf("rdma: setting up the link to rank %d: %w", peer, err)
}

// build makes a connected link. why is set if one end cannot, err if the ends could not
// communicate.
func (f *Fabric) build(ctx context.Context, peer int, boot fabric.Link, ours, theirs *offer) (_ *Link, why string, err error) {
	low, high := ours, theirs
	if peer < f.Rank() {
		low, high = theirs, ours
	}
	switch {
	case theirs.Protocol != protocol:
		return nil, fmt.Sprintf("rank %d uses version %d of the protocol, this rank version %d", peer, theirs.Protocol, protocol), nil
	case ours.Why != "":
		return nil, ours.Why, nil
	case theirs.Why != "":
		return nil, fmt.Sprintf("rank %d says: %s", peer, theirs.Why), nil
	}
	p, err := newPlan(low, high)
	if err != nil {
		return nil, err.Error(), nil
	}
	l := f.newLink(peer, boot, p)
	defer func() {
		if why != "" || err != nil {
			l.stopEvents()
			l.closeRails()
		}
	}()
	mine, far := f.inventory.rows[peer].devices, make([]railOffer, len(p.pairs))
	var opened error
	for i, pr := range p.pairs {
		near, other := pr.low, pr.high
		if peer < f.Rank() {
			near, other = other, near
		}
		far[i] = theirs.Rails[other]
		if opened == nil {
			opened = l.openRail(i, mine[near])
		}
	}
	say := answer{Why: text(opened), PSN: makePSNs(len(l.lanes))}
	for _, ln := range l.lanes {
		say.QPN = append(say.QPN, ln.qp.Num())
	}
	var heard answer
	if err := swap(ctx, boot, 2, &say, &heard); err != nil {
		return nil, "", err
	}
	if why := either(say.Why, heard.Why, peer); why != "" {
		return nil, why, nil
	}
	// Both ends post their receives before either sends a message.
	done := ready{Why: text(l.connect(say.PSN, &heard, far))}
	var theirDone ready
	if err := swap(ctx, boot, 3, &done, &theirDone); err != nil {
		return nil, "", err
	}
	return l, either(done.Why, theirDone.Why, peer), nil
}

// text returns the text of an error; "" if it is nil.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// either returns why one of the two ends failed; "" if neither did.
func either(ours, theirs string, peer int) string {
	if ours == "" && theirs != "" {
		return fmt.Sprintf("rank %d says: %s", peer, theirs)
	}
	return ours
}

// start starts the goroutines of the link.
func (l *Link) start() {
	l.engine.start()
	l.wg.Go(l.watch)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.engine.attend()
}
