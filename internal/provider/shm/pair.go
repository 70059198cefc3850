package shm

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"thundercollective/fabric"
	"thundercollective/internal/spin"
)

// pairChannel is where two ranks find out whether they share memory. The channel of
// a link's own bootstrap connection is that of the link, moved up.
const pairChannel = fabric.ProviderChannels

// A pair is what is known about sharing memory with a peer.
type pair struct {
	peer    int
	ready   chan struct{} // closed when the rest is set
	err     error         // the question could not be settled
	home    *segment      // the peer's; nil if no memory is shared
	passage *passage      // where segments come from and go to
	id      nonce         // of all segments of the peer
	pid     uint32        // of the peer's process, if they can read each other's memory
	reads   bool          // they can
	proof   uint64
}

// pair returns what is known about a peer, asking it the first time.
func (f *Fabric) pair(ctx context.Context, peer int) (*pair, error) {
	f.mu.Lock()
	if f.ctx.Err() != nil {
		f.mu.Unlock()
		return nil, fabric.ErrClosed
	}
	p := f.pairs[peer]
	if p == nil {
		p = &pair{peer: peer, ready: make(chan struct{})}
		f.pairs[peer] = p
		// Not under ctx: the peer counts on an answer whoever asked first.
		f.wg.Go(func() {
			p.err = f.meet(p, peer)
			close(p.ready)
			if p.home == nil {
				f.mix()
			}
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

// met returns what is known about a peer, nil if it is not known yet.
func (f *Fabric) met(peer int) *pair {
	f.mu.Lock()
	p := f.pairs[peer]
	f.mu.Unlock()
	if p == nil {
		return nil
	}
	select {
	case <-p.ready:
		return p
	default:
		return nil
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
	mine := offer{possible: f.home != nil, portable: f.cfg.Portable, serial: homeSerial, id: f.id}
	copy(mine.host[:], f.host)
	if f.home != nil && !f.cfg.Private {
		mine.proof = uint64(uintptr(unsafe.Pointer(&f.home.header().nonce)))
	}
	if err := sendOffer(f.ctx, boot, mine); err != nil {
		return err
	}
	theirs, err := recvOffer(f.ctx, boot)
	if err != nil {
		return err
	}
	var trouble error
	switch {
	case !mine.possible || !theirs.possible:
		trouble = errUnsupported
	case theirs.host != mine.host:
		trouble = errElsewhere
	case theirs.portable != mine.portable:
		trouble = errors.New("one of the two is to do as all systems can, the other as this one can")
	default:
		trouble, err = f.shareWith(p, boot, peer, theirs)
	}
	if err == nil && trouble == nil {
		f.sharers.Add(1)
		f.cfg.Logger.Debug("sharing memory", "peer", peer)
		return nil
	}
	p.passage.closeIfAny()
	p.home.closeIfAny()
	p.passage, p.home = nil, nil
	if err != nil {
		return err
	}
	return f.apart(peer, trouble)
}

// shareWith opens the passage to a peer on this machine, and exchanges home segments with
// it. Both know of each other's trouble.
func (f *Fabric) shareWith(p *pair, boot fabric.Link, peer int, theirs offer) (trouble, err error) {
	in := introduction{ctx: f.ctx, boot: boot, mine: f.id, theirs: theirs.id, portable: f.cfg.Portable}
	conn, trouble, err := in.connect(f.Rank() < peer)
	if err != nil || trouble != nil {
		return trouble, err
	}
	p.passage, p.id = newPassage(conn, f.knocked), theirs.id
	if trouble = p.passage.pass(homeSerial, f.home); trouble == nil {
		p.home, trouble = p.fetch(f.ctx, theirs.serial, homeSize)
	}
	var unread error
	switch {
	case f.cfg.Private:
		unread = errors.New("this rank keeps its memory to itself")
	case trouble == nil:
		p.pid, p.proof = processOf(p.passage.conn), theirs.proof
		unread = prove(p.pid, p.proof, p.id)
	}
	if err := sendAnswer(f.ctx, boot, answer{trouble, unread == nil}); err != nil {
		return nil, err
	}
	answer, err := recvAnswer(f.ctx, boot)
	switch {
	case err != nil:
		return nil, err
	case trouble == nil:
		trouble = answer.trouble
	}
	switch p.reads = unread == nil && answer.reads; {
	case p.reads:
	case unread == nil:
		f.cfg.Logger.Debug("not reading each other's memory", "peer", peer, "why", "the peer cannot, or may not")
	default:
		f.cfg.Logger.Debug("not reading each other's memory", "peer", peer, "why", unread)
	}
	return trouble, nil
}

// fetch maps a segment that the peer has passed, with a body of n bytes, or any if 0.
func (p *pair) fetch(ctx context.Context, serial uint64, n int) (*segment, error) {
	file, err := p.passage.take(ctx, serial)
	if err != nil {
		return nil, err
	}
	return attach(file, n, p.id, serial)
}

var (
	// errElsewhere is the one reason not to share memory that is nothing to wonder about.
	errElsewhere = errors.New("it is on another machine")
	// errUnsupported is why a machine shares no memory at all.
	errUnsupported = errors.New("one of the two cannot make memory to share")
)

// apart notes that no memory is shared with a peer.
func (f *Fabric) apart(peer int, why error) error {
	if f.cfg.Require {
		return fmt.Errorf("shm: no memory can be shared with rank %d: %w", peer, why)
	}
	f.cfg.Logger.Debug("not sharing memory", "peer", peer, "why", why)
	if !errors.Is(why, errElsewhere) {
		f.warning.Do(func() {
			f.cfg.Logger.Warn("ranks of this machine share no memory, so they are several times slower than they could be: "+
				"if in containers, run them in one network namespace", "peer", peer, "over", f.cfg.Bootstrap.Name(), "why", why)
		})
	}
	return nil
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
		seg, err = f.give(p, boot)
	} else {
		seg, err = f.take(p, boot)
	}
	if err != nil {
		boot.Close()
		return nil, fmt.Errorf("shm: opening a link to rank %d: %w", peer, err)
	}
	bell := peerBell{bell: bellOf(p.home, bellNumber(ch)), number: bellNumber(ch)}
	if f.cfg.Portable {
		bell.passage = p.passage
	}
	return newLink(peer, f.progressOf(ch), &f.mixed, bell, seg, boot, lower, spin.Spinner{Budget: f.cfg.Spin, Shared: f.cfg.Crowded}), nil
}

// give makes the segment of a link and waits until the peer has it.
func (f *Fabric) give(p *pair, boot fabric.Link) (*segment, error) {
	o := offer{serial: f.nextSerial()}
	seg, trouble := newSegment(linkSize, f.id, o.serial)
	if trouble == nil {
		trouble = p.passage.pass(o.serial, seg)
	}
	o.possible = trouble == nil
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
	seg, trouble := p.fetch(f.ctx, o.serial, linkSize)
	if err := sendAnswer(f.ctx, boot, answer{trouble: trouble}); err != nil || trouble != nil {
		seg.closeIfAny()
		return nil, errors.Join(trouble, err)
	}
	return seg, nil
}
