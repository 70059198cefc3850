package rails

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// rail is what is known of one rail to one peer, over all links.
type rail struct {
	peer int
	host string
	*Rail
	log *slog.Logger

	sent, recv atomic.Uint64

	mu        sync.Mutex
	seen      bool      // a stream was on it
	tried     time.Time // when the first attempt failed, while there was none
	told      bool      // that it does not come up
	down      bool      // a stream on it was lost, and none came since
	suspect   bool      // the other streams on it are to be given up too
	lostAt    time.Time
	logged    bool
	cause     error
	resent    int
	failovers int
}

// A State describes a rail to one peer.
type State struct {
	Peer         int
	Near, Far    string
	Device       string
	Up           bool   // it was there, and is not known to be lost
	Streams      int    // alive on it, of one link
	Sent, Recv   uint64 // payload bytes, what was sent again included
	Failovers    int    // how often it was lost
	ResentPieces int    // segments that had to be sent again
}

// dropped notes the loss of a stream while others are left.
func (r *rail) dropped(others bool, resent int, cause error) {
	if !others {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resent += resent
	if !r.down {
		r.down, r.suspect, r.logged, r.cause, r.lostAt = true, true, false, cause, time.Now()
		r.failovers++
	}
}

// startTime is how long a rail may take to come up before a line is written about it.
const startTime = 10 * time.Second

// failing notes an attempt to open a stream that failed.
func (r *rail) failing(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.seen || r.told:
	case r.tried.IsZero():
		r.tried = time.Now()
	case time.Since(r.tried) > startTime:
		r.told = true
		r.log.Warn("rail does not come up, going on without it", "peer", r.peer, "host", r.host, "rail", r.String(), "cause", err)
	}
}

// attached notes a stream that came.
func (r *rail) attached() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = true
	r.report()
	if r.told || r.down {
		r.log.Info("rail is back", "peer", r.peer, "host", r.host, "rail", r.String())
	}
	r.down, r.suspect, r.told = false, false, false
}

// suspected says once that the rail was lost, and when, and writes the one line
// about it.
func (r *rail) suspected() (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report()
	was := r.suspect
	r.suspect = false
	return r.lostAt, was
}

// report writes the one line about a rail that was lost. The caller holds the lock.
func (r *rail) report() {
	if r.down && !r.logged {
		r.logged = true
		r.log.Warn("rail lost, going on with the others", "peer", r.peer, "host", r.host,
			"rail", r.String(), "resent", r.resent, "cause", r.cause)
	}
}

func (r *rail) state() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return State{
		Peer: r.peer, Near: r.Near, Far: r.Far, Device: r.Device, Up: r.seen && !r.down,
		Sent: r.sent.Load(), Recv: r.recv.Load(), Failovers: r.failovers, ResentPieces: r.resent,
	}
}
