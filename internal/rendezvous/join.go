package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"thundercollective/internal/rendezvous/handshake"
)

const (
	dialTimeout  = 5 * time.Second        // of one attempt to connect
	firstRetry   = 25 * time.Millisecond  // pause between attempts, doubled each time
	lastRetry    = 400 * time.Millisecond // longest pause
	verdictGrace = 2 * time.Second        // for the coordinator to report who is missing
)

// A JoinConfig describes the rank that joins.
type JoinConfig struct {
	Coordinator string // host:port
	Rank, Size  int
	Token       []byte
	Generation  uint32
	Timeout     time.Duration // for all ranks to join; 0 means DefaultStartTimeout

	// Host is the name of this machine, for messages.
	Host string
	// Machine tells this machine from others; by its boot if empty. See Peer.
	Machine string

	// Addrs are the addresses at which other ranks reach this one. An unspecified
	// host, as in ":7000", becomes the local address of the connection to the
	// coordinator.
	Addrs []string

	// Listen, if set, returns Addrs. It is called at most once, when this rank has
	// connected to the coordinator, with the local IP address (and zone) of that
	// connection.
	Listen func(ip string) (addrs []string, err error)

	// OnRetry, if set, is called with the error of an attempt, before another one.
	OnRetry func(error)

	dial func(ctx context.Context, addr string) (net.Conn, error) // for tests
}

func (c *JoinConfig) validate() error {
	if _, err := dialable(c.Coordinator); err != nil {
		return badConfig(fieldCoordinator, "%q %v", c.Coordinator, err)
	}
	if c.Size < 1 || c.Size > MaxSize {
		return badConfig(fieldSize, "%d is out of range; a job has 1..%d ranks", c.Size, MaxSize)
	}
	if c.Rank < 0 || c.Rank >= c.Size {
		return badConfig(fieldRank, "%d is out of range; %s allows 0..%d", c.Rank, fieldSize, c.Size-1)
	}
	if c.Timeout < 0 {
		return badConfig(fieldTimeout, "%v is negative", c.Timeout)
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultStartTimeout
	}
	if c.Machine == "" {
		c.Machine = ownMachine()
	}
	if c.dial == nil {
		var d net.Dialer
		c.dial = func(ctx context.Context, addr string) (net.Conn, error) { return d.DialContext(ctx, "tcp", addr) }
	}
	return nil
}

// An UnreachableError reports that the coordinator could not be reached in time.
type UnreachableError struct {
	Coordinator string
	Waited      time.Duration
	Err         error // of the last attempt
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no coordinator answered at %s within %s: %v; "+
		"check that rank 0 (or the launcher) is running and that this is its address", e.Coordinator, seconds(e.Waited), e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// Join registers this rank at the coordinator and waits for the others. While nobody
// listens there, or if the connection breaks, it tries again until the timeout. It
// returns at once an error that waiting cannot fix.
//
// Errors: *MissingError if ranks did not arrive, *UnreachableError if the coordinator
// did not answer, *handshake.AuthError if tokens differ, *handshake.RejectedError if the
// coordinator refused this rank (its text tells why), *handshake.ProtocolError if
// another program listens at that address, and the cause of ctx if ctx ended.
func Join(ctx context.Context, cfg JoinConfig) (*Roster, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	j := joiner{JoinConfig: cfg, start: time.Now()}
	j.deadline = j.start.Add(cfg.Timeout)
	if end, ok := ctx.Deadline(); ok && end.Before(j.deadline) {
		// Stop early enough to learn who is missing before ctx ends.
		j.deadline = end.Add(-min(time.Second, time.Until(end)/10))
	}
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		peers, err := j.attempt(ctx)
		if err == nil {
			return &Roster{Rank: cfg.Rank, Generation: cfg.Generation, Peers: peers}, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("rank %d joining at %s: %w", cfg.Rank, cfg.Coordinator, context.Cause(ctx))
		}
		if final(err) {
			return nil, fmt.Errorf("rank %d joining at %s: %w", cfg.Rank, cfg.Coordinator, err)
		}
		if time.Until(j.deadline) <= pause {
			return nil, &UnreachableError{Coordinator: cfg.Coordinator, Waited: j.deadline.Sub(j.start), Err: err}
		}
		if cfg.OnRetry != nil {
			cfg.OnRetry(err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// A joiner is the state of Join.
type joiner struct {
	JoinConfig
	start, deadline time.Time
	listening       bool // Listen has been called
}

// A finalError is an error that another attempt would not fix.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// final reports whether another attempt would end with the same error.
func final(err error) bool {
	if _, ok := errors.AsType[finalError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*frameError](err); ok {
		return true
	}
	if rej, ok := errors.AsType[*handshake.RejectedError](err); ok {
		return rej.Code != handshake.Busy
	}
	if _, ok := errors.AsType[*handshake.AuthError](err); ok {
		return true
	}
	_, ok := errors.AsType[*handshake.ProtocolError](err)
	return ok
}

// attempt connects, registers and waits for the roster, once.
func (j *joiner) attempt(ctx context.Context) ([]Peer, error) {
	dialCtx, cancel := context.WithDeadline(ctx, j.soon(dialTimeout))
	defer cancel()
	conn, err := j.dial(dialCtx, j.Coordinator)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// If nobody listens, TCP on one machine can connect a port to itself.
	if conn.LocalAddr().Network() == "tcp" && conn.LocalAddr().String() == conn.RemoteAddr().String() {
		return nil, errors.New("nothing listens there")
	}
	// Close conn: unlike a deadline in the past, nothing below can undo that.
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { conn.Close(); close(closed) })
	defer func() {
		if !stop() {
			<-closed
		}
	}()

	_ = conn.SetDeadline(j.soon(handshakeTimeout))
	hello := handshake.Hello{
		Purpose: handshake.PurposeJoin, Generation: j.Generation,
		From: uint32(j.Rank), Size: uint32(j.Size),
	}
	if err := handshake.Dial(conn, hello, j.Token); err != nil {
		return nil, err
	}
	ip := localIP(conn)
	if err := j.register(conn, ip); err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(j.deadline.Add(verdictGrace))
	peers, err := j.roster(conn)
	if err != nil {
		return nil, err
	}
	rezone(peers, ip.Zone())
	return peers, nil
}

// soon returns the time d from now, or the deadline if that is earlier.
func (j *joiner) soon(d time.Duration) time.Time {
	if t := time.Now().Add(d); t.Before(j.deadline) {
		return t
	}
	return j.deadline
}

// register tells the coordinator where this rank listens.
func (j *joiner) register(conn net.Conn, ip netip.Addr) error {
	if j.Listen != nil && !j.listening {
		j.listening = true
		addrs, err := j.Listen(ip.String())
		if err != nil {
			return finalError{err}
		}
		j.Addrs = addrs
	}
	reg := registration{Peer: Peer{Host: j.Host, Machine: j.Machine}, Patience: time.Until(j.deadline)}
	for _, addr := range j.Addrs {
		e, err := parseEndpoint(addr)
		if err != nil {
			return finalError{&AddrError{Rank: j.Rank, Addr: addr, Reason: err.Error()}}
		}
		if e.unspecified() && ip.IsValid() {
			e.ip = ip
		}
		reg.Addrs = append(reg.Addrs, e.String())
	}
	if err := reg.check(); err != nil {
		return finalError{fmt.Errorf("addresses of rank %d: %w", j.Rank, err)}
	}
	frame, err := encodeFrame(frameRegister, reg)
	if err != nil {
		return finalError{err}
	}
	_, err = conn.Write(frame)
	return err
}

// roster waits for the coordinator to send the roster, or why there is none.
func (j *joiner) roster(conn io.Reader) ([]Peer, error) {
	peers := make([]Peer, 0, j.Size)
	for len(peers) < j.Size {
		kind, body, err := readFrame(conn)
		if err != nil {
			return nil, fmt.Errorf("waiting for the other ranks: %w", err)
		}
		switch kind {
		case framePeer:
			var reg registration
			if err := decodeFrame(body, &reg.Peer); err != nil {
				return nil, err
			}
			if err := reg.check(); err != nil {
				return nil, &frameError{fmt.Errorf("rank %d: %w", len(peers), err)}
			}
			peers = append(peers, reg.Peer)
		case frameMissing:
			var missing MissingError
			if err := decodeFrame(body, &missing); err != nil {
				return nil, err
			}
			missing.Waited = time.Since(j.start)
			for _, texts := range [][]string{missing.AuthFrom, missing.Refusals} {
				for i := range texts {
					texts[i] = clip(texts[i])
				}
			}
			return nil, finalError{&missing}
		case frameStopped:
			var s stopped
			if err := decodeFrame(body, &s); err != nil {
				return nil, err
			}
			return nil, finalError{errors.New(clip(s.Text))}
		case frameRefused:
			var r refusal
			if err := decodeFrame(body, &r); err != nil {
				return nil, err
			}
			return nil, &handshake.RejectedError{Code: r.Code, Text: clip(r.Text)}
		default:
			return nil, &frameError{fmt.Errorf("kind %d", kind)}
		}
	}
	return peers, nil
}
