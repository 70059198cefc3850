package tcp

import (
	"errors"
	"fmt"
	"net"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/linktable"
	"thundercollective/internal/rendezvous/handshake"
)

// maxPending bounds the links that a peer may open before this rank wants them.
const maxPending = 4096

// While strangers are turned away, a listener that has nobody waiting rests for
// siegePause before it looks again. Those that come meanwhile wait in the system, and
// are dealt with in one go: being called away from its work costs a job more than
// the work that it is called away for.
const (
	siegePause = 20 * time.Millisecond
	siegeLasts = time.Second           // after the last was turned away
	waited     = 50 * time.Microsecond // in Accept, if nobody was there
)

// accept takes connections until the listener is closed.
func (f *Fabric) accept(ln net.Listener) {
	var now, siege time.Time // siege is when the last was turned away
	for {
		before := time.Now()
		c, err := ln.Accept()
		if err != nil {
			if f.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			// Out of descriptors or the like: let some go first.
			f.cfg.Logger.Warn("accept failed", "addr", ln.Addr().String(), "err", err)
			f.rest(retryMost)
			continue
		}
		now = time.Now()
		if g := f.admission.enter(c.(*net.TCPConn), now); g != nil {
			f.wg.Go(func() { f.greet(g) })
		} else {
			_ = c.(*net.TCPConn).SetLinger(0) // leaves nothing behind, and a rank tries again
			c.Close()
			siege = now
		}
		if now.Sub(siege) < siegeLasts && now.Sub(before) > waited {
			f.admission.log(f.cfg.Logger, now)
			f.rest(siegePause)
		}
	}
}

// rest pauses, unless the fabric is closed.
func (f *Fabric) rest(d time.Duration) {
	select {
	case <-time.After(d):
	case <-f.ctx.Done():
	}
}

// greet lets a peer in and sends everybody else away.
func (f *Fabric) greet(g *guest) {
	c := g.conn
	c.SetDeadline(g.since.Add(f.cfg.HandshakeTimeout))
	var p *pending
	var onward *net.TCPConn
	var proved handshake.Hello
	h, err := handshake.Accept(c, f.cfg.Token, func(h handshake.Hello) (err error) {
		f.admission.proved(g)
		proved = h
		if h.Purpose == handshake.PurposeRelay {
			onward, err = f.openRelay(h)
			return err
		}
		p, err = f.admit(h)
		return err
	})
	if rosterDiffers(err) {
		err = fmt.Errorf("refused rank %d at %s: %w", proved.From, c.RemoteAddr(), f.cfg.Roster.Answer(c, f.cfg.Rank, int(proved.From)))
	}
	f.admission.leave(g)
	if err != nil && onward != nil {
		f.relays.drop(onward)
	}
	if err == nil {
		c.SetDeadline(time.Time{}) // the link, once whole, has deadlines of its own
		c.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true})
		switch h.Purpose {
		case handshake.PurposeRelay:
			f.relays.join(c, onward)
			return
		case handshake.PurposeRail:
			f.cfg.OnRail(c, h)
			return
		}
		if p.add(c, int(h.Stream), int(h.Streams), f.builder(p.key)) {
			return
		}
		err = errors.New("the link is complete already")
	}
	c.Close()
	if f.ctx.Err() == nil {
		f.admission.refuse(g, err)
		f.admission.log(f.cfg.Logger, time.Now())
		if f.cfg.OnDiffer != nil && f.differs(proved, err) {
			f.cfg.OnDiffer(int(proved.From), err)
		}
	}
}

// differs reports whether a refused peer knows the token, is one that this rank waits
// for, and runs with incompatible settings. A stranger, a rank of another generation
// and a second process of the same rank do not count.
func (f *Fabric) differs(proved handshake.Hello, err error) bool {
	if proved.Purpose == 0 || proved.Purpose == handshake.PurposeJoin ||
		int(proved.From) <= f.cfg.Rank || int(proved.From) >= f.Size() {
		return false
	}
	rejected, ok := errors.AsType[*handshake.RejectedError](err)
	if !ok {
		return false
	}
	switch rejected.Code {
	case handshake.WrongSize, handshake.WrongRank, handshake.RosterDiffers, handshake.Other:
		return true
	}
	return false
}

// admit decides on an authenticated hello. It returns the link that the stream is
// for, nil if that is a link over rails, which are kept elsewhere.
func (f *Fabric) admit(h handshake.Hello) (*pending, error) {
	switch err := f.checkHello(h); {
	case err != nil:
		return nil, err
	case h.Purpose == handshake.PurposeRail && f.cfg.OnRail == nil:
		return nil, reject(handshake.Other, "rank %d has no second rail to rank %d; the ranks' address lists differ", f.cfg.Rank, h.From)
	case int(h.From) <= f.cfg.Rank || int(h.From) >= f.Size():
		return nil, reject(handshake.WrongRank, "rank %d does not dial rank %d", h.From, f.cfg.Rank)
	case h.Streams < 1 || h.Streams > MaxStreams || h.Stream >= uint16(h.Streams):
		return nil, reject(handshake.Other, "stream %d of %d makes no sense", h.Stream, h.Streams)
	case h.Settings != f.settings(int(h.From)):
		return nil, reject(handshake.Other, "%s", f.settingsDiffer(int(h.From), h.Settings))
	case h.Purpose == handshake.PurposeRail:
		return nil, nil
	}
	k := linktable.Key{Peer: int(h.From), Channel: fabric.Channel(h.Channel)}
	p, _, err := f.pendingFor(k)
	if err != nil {
		return nil, reject(handshake.Busy, "%v", err)
	}
	if l := p.get(); l != nil {
		return nil, reject(handshake.DuplicateRank, "rank %d is connected already, from %s; start each rank once", h.From, l.addr)
	}
	return p, nil
}

// checkHello compares what all purposes have in common.
func (f *Fabric) checkHello(h handshake.Hello) error {
	switch {
	case h.Purpose == handshake.PurposeJoin:
		return reject(handshake.Other, "this is the data port of rank %d, not a coordinator", f.cfg.Rank)
	case int(h.Size) != f.Size():
		return reject(handshake.WrongSize, "rank %d was started with world size %d, rank %d with %d", f.cfg.Rank, f.Size(), h.From, h.Size)
	case h.Generation != f.cfg.Generation:
		return reject(handshake.WrongGeneration, "rank %d is of generation %d, rank %d of %d", f.cfg.Rank, f.cfg.Generation, h.From, h.Generation)
	case !handshake.SumsAgree(h.Roster, f.cfg.Roster.Sum()):
		return reject(handshake.RosterDiffers, "the hostfiles, address lists or cables of rank %d and rank %d differ; give all ranks the same", f.cfg.Rank, h.From)
	case int(h.To) != f.cfg.Rank:
		return reject(handshake.WrongRank, "this is rank %d, not rank %d; the ranks' address lists differ", f.cfg.Rank, h.To)
	}
	return nil
}

// reject is the refusal of an authenticated peer.
func reject(code handshake.Code, format string, args ...any) error {
	return &handshake.RejectedError{Code: code, Text: fmt.Sprintf(format, args...)}
}

// pendingFor is pending with a bound on what peers may leave lying around.
func (f *Fabric) pendingFor(k linktable.Key) (*pending, bool, error) {
	n := f.links.Len()
	if n >= maxPending*f.Size() {
		return nil, false, fmt.Errorf("%d links are open", n)
	}
	return f.pending(k)
}
