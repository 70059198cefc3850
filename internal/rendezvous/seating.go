package rendezvous

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"thundercollective/internal/rendezvous/handshake"
)

// handle serves one connection.
func (s *server) handle(conn net.Conn) {
	defer conn.Close()
	settled := s.pending.add(conn)
	defer settled()
	// SetDeadline fails only on a closed connection, and then reading fails too.
	_ = conn.SetDeadline(time.Now().Add(handshakeTimeout))

	st := &seat{conn: conn, rank: NoRank, gone: make(chan struct{})}
	defer s.leave(st)
	_, err := handshake.Accept(conn, s.cfg.Token, func(h handshake.Hello) error { return s.admit(h, st) })
	if err == nil {
		err = s.register(st, settled)
	}
	if err != nil {
		s.note(err, conn.RemoteAddr())
		return
	}
	// From now on, deliver sets the deadline for writing.
	_ = conn.SetReadDeadline(time.Time{})
	watch(conn)
	s.wake()

	// The rank sends nothing more. When this read returns, the rank is gone or
	// violates the protocol, or deliver has hung up.
	_, _ = conn.Read(make([]byte, 1))
}

// admit checks the hello of an authenticated rank, and gives it its seat.
func (s *server) admit(h handshake.Hello, st *seat) error {
	ours := h.Purpose == handshake.PurposeJoin && h.To == 0
	if s.cfg.OnJoin != nil && ours && h.From < h.Size && h.Size == uint32(s.cfg.Size) && h.Generation >= s.cfg.Generation {
		s.cfg.OnJoin(int(h.From), h.Generation)
	}
	switch {
	case !ours:
		return &handshake.RejectedError{Code: handshake.Other, Text: "this is a coordinator, not a rank"}
	case h.Generation > s.cfg.Generation:
		// This coordinator is left over from before a restart and will end soon.
		return &handshake.RejectedError{Code: handshake.Busy, Text: fmt.Sprintf(
			"the coordinator still serves generation %d of the job, the rank is of generation %d", s.cfg.Generation, h.Generation)}
	case h.Generation < s.cfg.Generation:
		return &handshake.RejectedError{Code: handshake.WrongGeneration, Text: fmt.Sprintf(
			"the rank is of generation %d of the job, the coordinator of generation %d", h.Generation, s.cfg.Generation)}
	case h.Size != uint32(s.cfg.Size):
		return &handshake.RejectedError{Code: handshake.WrongSize, Text: fmt.Sprintf(
			"rank %d was started with world size %d, the coordinator with %d", h.From, h.Size, s.cfg.Size)}
	case h.From >= h.Size:
		return &handshake.RejectedError{Code: handshake.WrongRank, Text: fmt.Sprintf(
			"rank %d is out of range for a world size of %d", h.From, h.Size)}
	}
	// A restarted rank may get here before the end of its earlier connection was
	// noticed.
	patience := time.NewTimer(rejoinGrace)
	defer patience.Stop()
	for {
		holder, err := s.seat(st, int(h.From))
		if holder == nil || err != nil {
			return err
		}
		select {
		case <-holder.gone:
		case <-s.ended:
		case <-patience.C:
			return &handshake.RejectedError{Code: handshake.DuplicateRank, Text: fmt.Sprintf(
				"rank %d is already here, from %s; each process needs its own rank", h.From, holder.conn.RemoteAddr())}
		}
	}
}

// seat gives st the seat of rank, or returns the holder of that seat.
func (s *server) seat(st *seat, rank int) (holder *seat, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, &handshake.RejectedError{Code: handshake.Busy, Text: "the coordinator is closing"}
	}
	if holder := s.seats[rank]; holder != nil {
		return holder, nil
	}
	st.rank = rank
	s.seats[rank] = st
	return nil, nil
}

// watch enables keep-alives, so that the connection of a rank whose machine vanished
// ends and the rank can join again.
func watch(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{
			Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3,
		})
	}
}

// register reads the registration of a seated rank. It sends an error to the rank, and
// returns it. It calls settled before the rank counts as arrived: from then on deliver
// closes the connection.
func (s *server) register(st *seat, settled func()) error {
	kind, body, err := readFrame(st.conn)
	if err != nil {
		return err
	}
	settled()
	var reg registration
	if kind != frameRegister {
		err = fmt.Errorf("frame of kind %d", kind)
	} else if err = decodeFrame(body, &reg); err == nil {
		err = reg.check()
	}
	if err == nil {
		err = s.take(st, &reg)
	}
	if err == nil {
		return nil
	}
	rej, ok := errors.AsType[*handshake.RejectedError](err)
	if !ok {
		rej = &handshake.RejectedError{Code: handshake.Other, Text: "bad registration: " + err.Error()}
	}
	rej.Text = clip(rej.Text)
	if frame, err := encodeFrame(frameRefused, refusal{rej.Code, rej.Text}); err == nil {
		_, _ = st.conn.Write(frame)
	}
	return fmt.Errorf("refused rank %d at %s: %w", st.rank, st.conn.RemoteAddr(), rej)
}

// take counts a registered rank as arrived.
func (s *server) take(st *seat, reg *registration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return &handshake.RejectedError{Code: handshake.Busy, Text: "the coordinator is closing"}
	}
	for _, other := range s.seats {
		if other == nil || !other.ready {
			continue
		}
		for _, addr := range reg.Addrs {
			// Two machines may have the same link-local address on different
			// cables.
			if e, err := parseEndpoint(addr); err == nil && e.ip.IsLinkLocalUnicast() {
				continue
			}
			if slices.Contains(other.peer.Addrs, addr) {
				return &handshake.RejectedError{Code: handshake.Other, Text: fmt.Sprintf(
					"%s is already an address of rank %d", addr, other.rank)}
			}
		}
	}
	st.peer, st.until, st.ready = reg.Peer, time.Now().Add(reg.Patience), true
	return nil
}

// leave frees the seat of st, if it has one.
func (s *server) leave(st *seat) {
	s.mu.Lock()
	if st.rank != NoRank && s.seats[st.rank] == st {
		s.seats[st.rank] = nil
	}
	s.mu.Unlock()
	close(st.gone)
	s.wake()
}

// wake makes wait look at the seats again.
func (s *server) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// note records an error that may explain why a rank is missing.
func (s *server) note(err error, from net.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.trouble
	if _, ok := errors.AsType[*handshake.AuthError](err); ok {
		t.AuthFailures++
		if len(t.AuthFrom) < maxListedTrouble {
			t.AuthFrom = append(t.AuthFrom, from.String())
			s.cfg.Logger.Warn("refused a rank", "err", err)
		}
		return
	}
	if _, ok := errors.AsType[*handshake.RejectedError](err); ok && len(t.Refusals) < maxListedTrouble {
		t.Refusals = append(t.Refusals, err.Error())
		s.cfg.Logger.Warn("refused a rank", "err", err)
	}
}
