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

// Limits of the coordinator. They are not configurable, because honest ranks never
// reach them.
const (
	handshakeTimeout = 5 * time.Second        // from connecting to having registered
	deliverTimeout   = 5 * time.Second        // for sending the outcome to a rank
	rejoinGrace      = 500 * time.Millisecond // for noticing the end of a rank's earlier connection
	minPending       = 128                    // connections that have not registered
)

// A ServerConfig describes the job that a coordinator serves.
type ServerConfig struct {
	Size       int
	Token      []byte
	Generation uint32
	Timeout    time.Duration // for all ranks to arrive; 0 means DefaultStartTimeout

	// Logger, if set, gets a line for each of the first few ranks that are refused, so
	// that the user learns the reason before the timeout.
	Logger *slog.Logger
	// OnJoin, if set, is called for every rank that knows the token and wants to join
	// this generation or a later one. A rank that wants a later one is refused for now
	// and tries again, which gives the caller time to serve that generation. OnJoin may
	// be called from several goroutines at once, and must not wait for Serve.
	OnJoin func(rank int, generation uint32)
	// OnComplete, if set, is called when all ranks have arrived, before they learn it.
	OnComplete func()
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

// Serve is the coordinator of one job: it accepts connections on ln until every rank
// has joined, sends the roster to all of them, and returns nil.
//
// If a rank does not arrive within the timeout, or before one that did gives up, Serve
// sends a *MissingError to the ranks that did arrive, and returns it. If ctx ends, it
// sends and returns the cause of ctx. Connections that fail the handshake, stay silent,
// or claim a rank that has already arrived do not disturb the others.
//
// Serve closes ln. When it returns, all goroutines that it started have ended.
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
	if out.err == nil && cfg.OnComplete != nil {
		cfg.OnComplete()
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
	seats   []*seat // by rank; nil if it has not arrived
	over    bool    // decided: nobody gets a seat any more
	trouble MissingError
}

// A seat is a rank's place in the job, from its handshake on.
type seat struct {
	conn  net.Conn
	rank  int
	peer  Peer
	ready bool          // it has registered
	until time.Time     // when it gives up
	gone  chan struct{} // closed when its connection has ended
}

// An outcome tells how the job started, or why it did not.
type outcome struct {
	tell  []byte  // frames for the ranks that have arrived
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

// wait returns when all ranks have arrived or it is certain that they will not.
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

// decide ends the rendezvous if it is complete or has timed out; otherwise it returns
// when it will time out.
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
				// Cannot happen: the peer arrived in a frame of this size.
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

// stop ends the rendezvous because the coordinator cannot go on.
func (s *server) stop(cause error) outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.end()
	out.err = cause
	out.tell, _ = encodeFrame(frameStopped, stopped{Text: clip(cause.Error())})
	return out
}

// end stops the seating of ranks. The caller holds mu.
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

// deliver sends the outcome to all ranks in parallel, and hangs up. Its error names the
// ranks that it could not be sent to.
func (o *outcome) deliver() error {
	lost := make([]error, len(o.seats))
	var wg sync.WaitGroup
	for i, st := range o.seats {
		wg.Go(func() {
			defer st.conn.Close()
			_ = st.conn.SetWriteDeadline(time.Now().Add(deliverTimeout))
			if _, err := st.conn.Write(o.tell); err != nil {
				lost[i] = fmt.Errorf("rank %d disconnected as the job started: %w", st.rank, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(lost...)
}
