package rails

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// rail is the state of one rail to one peer, over all links. mu guards the fields that
// follow it.
type rail struct {
	peer int
	host string
	*Rail
	log *slog.Logger

	sent, recv atomic.Uint64

	mu        sync.Mutex
	seen      bool      // it had a stream at some time
	tried     time.Time // when the first attempt failed; zero if none has
	told      bool      // logged that it does not come up
	down      bool      // a stream on it was lost, and none was opened since
	suspect   bool      // the other streams on it are to be dropped too
	lostAt    time.Time
	logged    bool // logged that it was lost
	cause     error
	resent    int
	failovers int
}

// A State describes a rail to one peer.
type State struct {
	Peer         int
	Near, Far    string
	Device       string
	Up           bool   // it came up and is not known to be lost
	Streams      int    // of one link that are alive on it
	Sent, Recv   uint64 // payload bytes, including those sent again
	Failovers    int    // how many times it was lost
	ResentPieces int    // segments that had to be sent again
}

// dropped records the loss of a stream while others are left.
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

// startTime is how long a rail may take to come up before a warning is logged.
const startTime = 10 * time.Second

// failing records a failed attempt to open a stream.
func (r *rail) failing(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.seen || r.told:
	case r.tried.IsZero():
		r.tried = time.Now()
	case time.Since(r.tried) > startTime:
		r.told = true
		r.log.Warn("rail does not come up, continuing without it", "peer", r.peer, "host", r.host, "rail", r.String(), "cause", err)
	}
}

// attached records that a stream was opened.
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

// suspected reports, once for each loss, that the rail was lost and when, and logs
// it.
func (r *rail) suspected() (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report()
	was := r.suspect
	r.suspect = false
	return r.lostAt, was
}

// report logs the loss of the rail, once. The caller holds the lock.
func (r *rail) report() {
	if r.down && !r.logged {
		r.logged = true
		r.log.Warn("rail lost, continuing on the others", "peer", r.peer, "host", r.host,
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
