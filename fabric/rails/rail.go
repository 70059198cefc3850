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
	down      bool // a stream on it was lost, and none came since
	suspect   bool // the other streams on it are to be given up too
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
	Up           bool
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

// attached notes a stream that came.
func (r *rail) attached() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down && r.logged {
		r.log.Info("rail is back", "peer", r.peer, "host", r.host, "rail", r.String())
	}
	r.down, r.suspect = false, false
}

// suspected says once that the rail was lost, and when, and writes the one line
// about it.
func (r *rail) suspected() (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down && !r.logged {
		r.logged = true
		r.log.Warn("rail lost, going on with the others", "peer", r.peer, "host", r.host,
			"rail", r.String(), "resent", r.resent, "cause", r.cause)
	}
	was := r.suspect
	r.suspect = false
	return r.lostAt, was
}

func (r *rail) state() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return State{
		Peer: r.peer, Near: r.Near, Far: r.Far, Device: r.Device, Up: !r.down,
		Sent: r.sent.Load(), Recv: r.recv.Load(), Failovers: r.failovers, ResentPieces: r.resent,
	}
}
