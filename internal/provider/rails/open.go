package rails

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/tcp"
)

const (
	retryFirst = 10 * time.Millisecond
	retryMost  = 500 * time.Millisecond
	// greetTime bounds one attempt to open a stream.
	greetTime = 5 * time.Second
	// stragglerTime is how long the first stream of a link waits for the others.
	stragglerTime = 1500 * time.Millisecond
)

// keepAll starts what keeps the streams open that this end has to open.
func (l *link) keepAll() {
	for i := range l.streams {
		if l.dials() || l.railOf(i).Meet {
			l.f.wg.Go(func() { l.keep(i) })
		}
	}
}

// keep opens a stream of the link, and again when it is lost, for as long as the
// link is wanted.
func (l *link) keep(i int) {
	ctx := l.ctx
	wait := retryFirst
	for ctx.Err() == nil {
		if l.has(i) {
			wait = retryFirst
		} else if err := l.open(ctx, i); err == nil {
			continue
		} else if l.note(i, err) {
			return
		}
		select {
		case <-time.After(wait):
			wait = min(2*wait, retryMost)
		case <-ctx.Done():
		}
	}
}

// has says whether a stream is alive, and waits until it is not.
func (l *link) has(i int) bool {
	l.mu.Lock()
	s := l.streams[i]
	l.mu.Unlock()
	if s == nil {
		return false
	}
	select {
	case <-s.over:
	case <-l.ctx.Done():
	}
	return true
}

// note keeps why a stream could not be opened. It is true if there is no point in
// trying again, and ends the link then if it is not up.
func (l *link) note(i int, err error) bool {
	var pair *PairError
	r := l.railOf(i)
	if errors.As(err, &pair) || r.Final != nil && r.Final(err) {
		// A link that is up has agreed on its rails before; it may again.
		if l.abandon(fmt.Errorf("rails: rank %d on %s: %w", l.peer, l.f.host(l.peer), err)) {
			return true
		}
	}
	r.failing(err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = err
	l.out.wake.Broadcast()
	return false
}

// open makes one attempt to open a stream and to have the other end agree on it.
func (l *link) open(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, greetTime)
	defer cancel()
	r := l.railOf(i)
	conn, err := r.Open(ctx, l.ch, i, len(l.streams))
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	if l.dials() {
		g := greeting{link: l.ident(), stream: uint16(i), streams: uint16(len(l.streams)), sums: l.f.cfg.Checksum, near: r.Near, far: r.Far}
		if err = g.write(conn); err == nil {
			err = readReply(conn)
		}
	} else {
		err = l.answer(conn, i)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return err
	}
	if !l.attach(i, conn) {
		conn.Close()
		return fabric.ErrClosed
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.wake.Broadcast()
	return nil
}

// ident draws the number that tells this link from an earlier one to the same peer.
func (l *link) ident() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.id == 0 {
		var b [8]byte
		rand.Read(b[:])
		l.id = binary.LittleEndian.Uint64(b[:])
	}
	return l.id
}

// waitForRails waits until every stream has been tried and one of them is there;
// the first one waits for the others a while, not for ever.
func (l *link) waitForRails(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.out.wake.Broadcast()
	})()
	late := false
	var timer *time.Timer
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.isUp {
		switch {
		case l.startErr != nil:
			return l.startErr
		case l.closed:
			return fabric.ErrClosed
		case ctx.Err() != nil:
			err := context.Cause(ctx)
			if l.trouble != nil {
				err = fmt.Errorf("%w (last try: %w)", err, l.trouble)
			}
			return err
		case l.live == len(l.streams) || l.live > 0 && late:
			l.up()
			continue
		case l.live > 0 && timer == nil:
			timer = time.AfterFunc(stragglerTime, func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				late = true
				l.out.wake.Broadcast()
			})
			defer timer.Stop()
		}
		l.out.wake.Wait()
	}
	return nil
}

func (l *link) startError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.startErr
}

// Accept takes over a connection that a peer has opened for one of the streams of
// its link to this rank. It returns why it did not, after closing it.
func (f *Fabric) Accept(conn net.Conn, peer int, ch fabric.Channel, stream int) error {
	conn.SetDeadline(time.Now().Add(greetTime))
	err := f.accept(conn, peer, ch, stream)
	if err != nil {
		conn.Close()
		f.cfg.Logger.Warn("rail refused", "peer", peer, "host", f.host(peer), "from", conn.RemoteAddr().String(), "err", err)
	}
	return err
}

func (f *Fabric) accept(conn net.Conn, peer int, ch fabric.Channel, stream int) error {
	if peer >= len(f.cfg.Rails) || stream >= len(f.cfg.plan(peer, ch)) {
		err := &PairError{fmt.Sprintf("rank %d on %s opens stream %d, but rank %d on %s knows only of %s",
			peer, f.host(peer), stream, f.Rank(), f.host(f.Rank()), f.listRails(peer))}
		writeReply(conn, err)
		return err
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return fabric.ErrClosed
	}
	k := linkKey{peer, ch}
	l := f.links[k]
	if l == nil || l.failed() {
		l = newLink(f, peer, ch)
		f.links[k] = l
	}
	f.mu.Unlock()
	if err := l.answer(conn, stream); err != nil {
		return err
	}
	conn.SetDeadline(time.Time{})
	if !l.attach(stream, conn) {
		return errors.New("the link is closed")
	}
	return nil
}

// answer compares the greeting of a dialler with what this end believes.
func (l *link) answer(conn Conn, stream int) error {
	g, err := readGreeting(conn)
	if err == nil {
		err = l.agree(&g, stream)
	}
	if err == nil {
		err = l.checkEnds(conn, l.railOf(stream))
	}
	var pair *PairError
	if err == nil || errors.As(err, &pair) {
		if e := writeReply(conn, err); err == nil {
			err = e
		}
	}
	return err
}

func (l *link) agree(g *greeting, stream int) error {
	f, r := l.f, l.railOf(stream)
	switch {
	case g.sums != f.cfg.Checksum:
		with, without := l.peer, f.Rank()
		if f.cfg.Checksum {
			with, without = without, with
		}
		return &PairError{tcp.ChecksumsDiffer(with, without)}
	case int(g.streams) != len(l.streams):
		return &PairError{fmt.Sprintf("rank %d on %s opens %d streams, rank %d on %s expects %d over %s",
			l.peer, f.host(l.peer), g.streams, f.Rank(), f.host(f.Rank()), len(l.streams), f.listRails(l.peer))}
	case int(g.stream) != stream || g.near != r.Far || g.far != r.Near:
		return &PairError{fmt.Sprintf("for rank %d on %s stream %d runs from %s to %s, for rank %d on %s from %s to %s",
			l.peer, f.host(l.peer), g.stream, g.near, g.far, f.Rank(), f.host(f.Rank()), r.Far, r.Near)}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.id != 0 && l.id != g.link {
		return fmt.Errorf("rank %d is connected already", l.peer)
	}
	l.id = g.link
	return nil
}

// checkEnds compares the addresses of a TCP connection with those of its rail.
func (l *link) checkEnds(conn Conn, r *rail) error {
	c, ok := conn.(*net.TCPConn)
	if !ok || r.Anywhere {
		return nil
	}
	near, far := ipOf(c.LocalAddr()), ipOf(c.RemoteAddr())
	if near.String() != r.Near || far.String() != r.Far {
		return &PairError{fmt.Sprintf("the connection of rank %d on %s came from %s to %s, not on the rail %s of rank %d on %s",
			l.peer, r.host, far, near, r, l.f.Rank(), l.f.host(l.f.Rank()))}
	}
	return nil
}

func ipOf(a net.Addr) netip.Addr {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return t.AddrPort().Addr().Unmap().WithZone("")
}

func (f *Fabric) listRails(peer int) string {
	if len(f.cfg.Rails[peer]) == 0 {
		return "no rail"
	}
	s := ""
	for i := range f.cfg.Rails[peer] {
		if i > 0 {
			s += ", "
		}
		s += f.cfg.Rails[peer][i].String()
	}
	return s
}
