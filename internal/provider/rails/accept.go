package rails

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/linktable"
	"thundercollective/internal/provider/tcp"
)

// Accept takes over a connection that a peer has opened for one of the streams of
// its link to this rank. If it returns an error, it has closed the connection.
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
		err := &PairError{fmt.Sprintf("rank %d on %s opens stream %d, but rank %d on %s knows only %s",
			peer, f.host(peer), stream, f.Rank(), f.host(f.Rank()), f.listRails(peer))}
		writeReply(conn, err)
		return err
	}
	l, err := f.entry(linktable.Key{Peer: peer, Channel: ch})
	if err != nil {
		return err
	}
	if err := l.opener.answer(conn, stream); err != nil {
		return err
	}
	conn.SetDeadline(time.Time{})
	if !l.attach(stream, conn) {
		return errors.New("the link is closed")
	}
	return nil
}

// answer reads the greeting of a dialler and replies whether this end agrees with it.
func (o *opener) answer(conn Conn, stream int) error {
	g, err := readGreeting(conn)
	if err == nil {
		err = o.agree(&g, stream)
	}
	if err == nil {
		err = o.l.checkEnds(conn, o.l.streams.railOf(stream))
	}
	var pair *PairError
	if err == nil || errors.As(err, &pair) {
		if e := writeReply(conn, err); err == nil {
			err = e
		}
	}
	return err
}

// agree compares a greeting with what this end expects of a stream.
func (o *opener) agree(g *greeting, stream int) error {
	l := o.l
	f, r := l.f, l.streams.railOf(stream)
	switch {
	case g.sums != f.cfg.Checksum:
		with, without := l.peer, f.Rank()
		if f.cfg.Checksum {
			with, without = without, with
		}
		return &PairError{tcp.ChecksumsDiffer(with, without)}
	case int(g.streams) != len(l.streams.list):
		return &PairError{fmt.Sprintf("rank %d on %s opens %d streams, rank %d on %s expects %d over %s",
			l.peer, f.host(l.peer), g.streams, f.Rank(), f.host(f.Rank()), len(l.streams.list), f.listRails(l.peer))}
	case int(g.stream) != stream || g.near != r.Far || g.far != r.Near:
		return &PairError{fmt.Sprintf("for rank %d on %s stream %d runs from %s to %s, for rank %d on %s from %s to %s",
			l.peer, f.host(l.peer), g.stream, g.near, g.far, f.Rank(), f.host(f.Rank()), r.Far, r.Near)}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.id != 0 && o.id != g.link {
		return fmt.Errorf("rank %d is already connected", l.peer)
	}
	o.id = g.link
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
		return &PairError{fmt.Sprintf("the connection of rank %d on %s runs from %s to %s, which is not the rail %s of rank %d on %s",
			l.peer, r.host, far, near, r, l.f.Rank(), l.f.host(l.f.Rank()))}
	}
	return nil
}

// ipOf returns the address of one end of a TCP connection, without its zone.
func ipOf(a net.Addr) netip.Addr {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return t.AddrPort().Addr().Unmap().WithZone("")
}

// listRails describes the rails to a peer.
func (f *Fabric) listRails(peer int) string {
	if peer >= len(f.cfg.Rails) || len(f.cfg.Rails[peer]) == 0 {
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
