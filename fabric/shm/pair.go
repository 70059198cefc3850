package shm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"thundercollective/fabric"
	"thundercollective/fabric/internal/spin"
)

// pairChannel is where two ranks find out whether they share memory. The channel of
// a link's own bootstrap connection is that of the link, moved up.
const pairChannel = fabric.ProviderChannels

// A pair is what is known about sharing memory with a peer.
type pair struct {
	ready chan struct{} // closed when the rest is set
	err   error         // the question could not be settled
	home  *segment      // the peer's; nil if no memory is shared
	pid   uint32
	id    nonce // of everything the peer offers through its process
	reads bool  // the processes can read each other's memory
	proof uint64
}

// pair returns what is known about a peer, asking it the first time.
func (f *Fabric) pair(ctx context.Context, peer int) (*pair, error) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil, fabric.ErrClosed
	}
	p := f.pairs[peer]
	if p == nil {
		p = &pair{ready: make(chan struct{})}
		f.pairs[peer] = p
		// Not under ctx: the peer counts on an answer whoever asked first.
		f.wg.Go(func() {
			defer close(p.ready)
			p.err = f.meet(p, peer)
		})
	}
	f.mu.Unlock()
	select {
	case <-p.ready:
		return p, p.err
	case <-ctx.Done():
		return nil, fmt.Errorf("shm: waiting for rank %d: %w", peer, context.Cause(ctx))
	case <-f.ctx.Done():
		return nil, fabric.ErrClosed
	}
}

// meet settles whether memory is shared with a peer. Both come to the same result.
func (f *Fabric) meet(p *pair, peer int) error {
	if !f.cfg.Near(peer) {
		return f.apart(peer, errElsewhere)
	}
	boot, err := f.cfg.Bootstrap.Link(f.ctx, peer, pairChannel)
	if err != nil {
		return err
	}
	defer boot.Close()
	mine := offer{possible: f.home != nil, pid: uint32(os.Getpid()), id: f.id}
	copy(mine.host[:], f.host)
	if f.home != nil {
		mine.fd = uint32(f.home.fd)
		if !f.cfg.Private {
			mine.proof = uint64(uintptr(unsafe.Pointer(&f.home.header().nonce)))
		}
	}
	if err := sendOffer(f.ctx, boot, mine); err != nil {
		return err
	}
	theirs, err := recvOffer(f.ctx, boot)
	if err != nil {
		return err
	}
	var home *segment
	var trouble, unread error
	switch {
	case f.home == nil:
		trouble = errUnsupported
	case !theirs.possible:
		trouble = errors.New("the peer has no shared memory")
	case theirs.host != mine.host:
		trouble = errElsewhere
	default:
		home, trouble = attach(theirs.pid, theirs.fd, homeSize, theirs.id, 0)
	}
	switch {
	case f.cfg.Private:
		unread = errors.New("this rank keeps its memory to itself")
	case trouble == nil:
		unread = prove(theirs.pid, theirs.proof, theirs.id)
	}
	if err := sendAnswer(f.ctx, boot, answer{trouble, unread == nil}); err != nil {
		home.closeIfAny()
		return err
	}
	answer, err := recvAnswer(f.ctx, boot)
	if trouble == nil {
		trouble = answer.trouble
	}
	if err != nil || trouble != nil {
		home.closeIfAny()
		if err != nil {
			return err
		}
		return f.apart(peer, trouble)
	}
	p.home, p.pid, p.id, p.proof = home, theirs.pid, theirs.id, theirs.proof
	f.cfg.Logger.Debug("sharing memory", "peer", peer)
	switch p.reads = unread == nil && answer.reads; {
	case p.reads:
	case unread == nil:
		f.cfg.Logger.Debug("not reading each other's memory", "peer", peer, "why", "the peer cannot, or may not")
	default:
		f.cfg.Logger.Debug("not reading each other's memory", "peer", peer, "why", unread)
	}
	return nil
}

// errElsewhere is the one reason not to share memory that is nothing to wonder about.
var errElsewhere = errors.New("it is on another machine")

// apart notes that no memory is shared with a peer.
func (f *Fabric) apart(peer int, why error) error {
	if f.cfg.Require {
		return fmt.Errorf("shm: no memory can be shared with rank %d: %w", peer, why)
	}
	f.cfg.Logger.Debug("not sharing memory", "peer", peer, "why", why)
	if !errors.Is(why, errElsewhere) && !errors.Is(why, errUnsupported) {
		f.warning.Do(func() {
			f.cfg.Logger.Warn("ranks of this machine share no memory, so they are several times slower than they could be: "+
				"run them as one user, and if in containers, in one process namespace", "peer", peer, "over", f.cfg.Bootstrap.Name(), "why", why)
		})
	}
	return nil
}

func (s *segment) closeIfAny() {
	if s != nil {
		s.close()
	}
}

func (s *segment) unlistIfAny() {
	if s != nil {
		s.unlist()
	}
}

// connect makes the link to a peer that shares memory. The lower rank makes the
// segment.
func (f *Fabric) connect(p *pair, peer int, ch fabric.Channel) (*link, error) {
	boot, err := f.cfg.Bootstrap.Link(f.ctx, peer, fabric.ProviderChannels|ch)
	if err != nil {
		return nil, err
	}
	lower := f.Rank() < peer
	var seg *segment
	if lower {
		seg, err = f.give(boot)
	} else {
		seg, err = f.take(p, boot)
	}
	if err != nil {
		boot.Close()
		return nil, fmt.Errorf("shm: opening a link to rank %d: %w", peer, err)
	}
	return newLink(peer, f.hub(ch), bellOf(p.home, ch), seg, boot, lower, spin.Spinner{Budget: f.cfg.Spin, Shared: f.cfg.Crowded}), nil
}

// give makes the segment of a link and waits until the peer has it.
func (f *Fabric) give(boot fabric.Link) (*segment, error) {
	id := newNonce()
	seg, trouble := newSegment(linkSize, id, 0)
	o := offer{possible: trouble == nil, pid: uint32(os.Getpid()), id: id}
	if trouble == nil {
		o.fd = uint32(seg.fd)
	}
	err := sendOffer(f.ctx, boot, o)
	if err == nil && trouble == nil {
		var a answer
		a, err = recvAnswer(f.ctx, boot)
		trouble = a.trouble
	}
	if err = errors.Join(err, trouble); err != nil {
		seg.closeIfAny()
		return nil, err
	}
	seg.unlist()
	return seg, nil
}

// take attaches to the segment that the peer made.
func (f *Fabric) take(p *pair, boot fabric.Link) (*segment, error) {
	o, err := recvOffer(f.ctx, boot)
	if err != nil {
		return nil, err
	}
	if !o.possible {
		return nil, errors.New("the peer could not make shared memory")
	}
	seg, trouble := attach(p.pid, o.fd, linkSize, o.id, 0)
	if err := sendAnswer(f.ctx, boot, answer{trouble: trouble}); err != nil || trouble != nil {
		seg.closeIfAny()
		return nil, errors.Join(trouble, err)
	}
	return seg, nil
}
