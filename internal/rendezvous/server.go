package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"
)

// Limits of the coordinator. They are not for users to choose: honest ranks do not
// notice them.
const (
	handshakeTimeout = 5 * time.Second        // from connecting to having registered
	deliverTimeout   = 5 * time.Second        // for telling a rank the outcome
	rejoinGrace      = 500 * time.Millisecond // for a rank's earlier connection to be seen dead
	minPending       = 128                    // connections that have not registered
)

// A ServerConfig is what a coordinator has to know.
type ServerConfig struct {
	Size       int
	Token      []byte
	Generation uint32
	Timeout    time.Duration // for all ranks to arrive; 0 is DefaultStartTimeout

	// Logger, if set, is told of the first few that are turned away: who waits for
	// them need not wait for the end to be told why.
	Logger *slog.Logger
	// Heard, if set, is told of every rank that knows the token and asks for this
	// generation or a later one. Who asks for a later one is turned away for now, and
	// tries again: time for Heard's owner to serve that. It may be called from several
	// goroutines at once, and must not wait for Serve.
	Heard func(rank int, generation uint32)
	// Met, if set, is called when all ranks are there, before any is told.
	Met func()
}

func (c *ServerConfig) validate() error {
	if c.Size < 1 || c.Size > MaxSize {
		return badConfig(fieldSize, "%d is out of range; a job has 1..%d ranks", c.Size, MaxSize)
	}
	if c.Timeout < 0 {
		return badConfig(fieldTimeout, "%v is negative", c.Timeout)
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultStartTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Serve is the coordinator of one job: it waits at ln until every rank has
// joined, hands the roster to all of them, and returns nil.
//
// When a rank does not arrive within the timeout, or within the patience of one
// that did, all that did are told, and Serve returns a *MissingError. When ctx ends
// they are told as well, and Serve returns its cause. Connections that fail the
// handshake, say nothing, or come from a rank that is already there harm nobody.
//
// Serve closes ln. When it returns, everything it started has ended.
func Serve(ctx context.Context, ln net.Listener, cfg ServerConfig) error {
	defer ln.Close()
	if err := cfg.validate(); err != nil {
		return err
	}
	s := &server{
		cfg:     cfg,
		start:   time.Now(),
		seats:   make([]*seat, cfg.Size),
		changed: make(chan struct{}, 1),
		ended:   make(chan struct{}),
		pending: newPending(max(minPending, 2*cfg.Size)),
	}
	acceptErr := make(chan error, 1)
	var acceptor sync.WaitGroup
	acceptor.Go(func() { acceptErr <- s.accept(ln) })

	out := s.wait(ctx, acceptErr)

	ln.Close()
	acceptor.Wait()
	s.pending.close()
	if out.err == nil && cfg.Met != nil {
		cfg.Met()
	}
	lost := out.deliver()
	s.handlers.Wait()
	if out.err != nil {
		return out.err
	}
	return lost
}

// A server is the state of Serve.
type server struct {
	cfg      ServerConfig
	start    time.Time
	pending  *pending
	handlers sync.WaitGroup
	changed  chan struct{} // there may be something to decide
	ended    chan struct{} // closed when it is decided

	mu      sync.Mutex
	seats   []*seat // by rank; nil if not here
	over    bool    // decided: nobody is seated any more
	trouble MissingError
}

// A seat is a rank's place, from its handshake on.
type seat struct {
	conn  net.Conn
	rank  int
	peer  Peer
	ready bool          // it has registered
	until time.Time     // when it loses patience
	gone  chan struct{} // closed when its connection has ended
}

// An outcome is how the job started, or did not.
type outcome struct {
	tell  []byte  // frames for the ranks that are there
	seats []*seat // those ranks
	err   error   // for the caller of Serve
}

func (s *server) accept(ln net.Listener) error {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return fmt.Errorf("coordinator cannot accept connections: %w", err)
		}
		s.handlers.Go(func() { s.handle(conn) })
	}
}

// wait returns when all ranks are there or it is clear that they will not be.
func (s *server) wait(ctx context.Context, acceptErr <-chan error) outcome {
	for {
		out, until := s.decide(time.Now())
		if out != nil {
			return *out
		}
		timer := time.NewTimer(time.Until(until))
		var cause error
		select {
		case <-s.changed:
		case <-timer.C:
		case <-ctx.Done():
			cause = fmt.Errorf("coordinator stopped: %w", context.Cause(ctx))
		case cause = <-acceptErr:
		}
		timer.Stop()
		if cause != nil {
			return s.stop(cause)
		}
	}
}

// decide ends the rendezvous if it is complete or its time is over; else it says
// when that will be.
func (s *server) decide(now time.Time) (*outcome, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	until := s.start.Add(s.cfg.Timeout)
	var missing []int
	var peers []Peer
	for rank, st := range s.seats {
		if st == nil || !st.ready {
			missing = append(missing, rank)
			continue
		}
		peers = append(peers, st.peer)
		if st.until.Before(until) {
			until = st.until
		}
	}
	switch {
	case missing == nil:
		out := s.end()
		for _, peer := range peers {
			frame, err := encodeFrame(framePeer, peer)
			if err != nil {
				// It came in a frame; there is nothing to make it longer.
				out.err = fmt.Errorf("coordinator: %w", err)
			}
			out.tell = append(out.tell, frame...)
		}
		return &out, until
	case now.Before(until):
		return nil, until
	}
	out := s.end()
	merr := s.trouble
	merr.Missing, merr.Size, merr.Waited = missing, s.cfg.Size, now.Sub(s.start)
	out.err = &merr
	out.tell, _ = encodeFrame(frameMissing, &merr) // MaxSize numbers and a few lines fit
	return &out, until
}

// stop ends the rendezvous for a reason of the coordinator's own.
func (s *server) stop(cause error) outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.end()
	out.err = cause
	out.tell, _ = encodeFrame(frameStopped, stopped{Text: clip(cause.Error())})
	return out
}

// end closes the doors. The caller holds mu.
func (s *server) end() (out outcome) {
	s.over = true
	close(s.ended)
	for _, st := range s.seats {
		if st != nil && st.ready {
			out.seats = append(out.seats, st)
		}
	}
	return out
}

// deliver tells the ranks, all at once, and hangs up. Its error names those that
// could not be told.
func (o *outcome) deliver() error {
	lost := make([]error, len(o.seats))
	var wg sync.WaitGroup
	for i, st := range o.seats {
		wg.Go(func() {
			defer st.conn.Close()
			_ = st.conn.SetWriteDeadline(time.Now().Add(deliverTimeout))
			if _, err := st.conn.Write(o.tell); err != nil {
				lost[i] = fmt.Errorf("rank %d went away as the job came together: %w", st.rank, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(lost...)
}
