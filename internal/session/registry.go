package session

import (
	"fmt"
	"sync"

	"thundercollective/internal/failure"
)

// A registry holds the groups of a session, and what is known of groups that are closed
// or that do not exist here yet.
type registry struct {
	mu     sync.Mutex
	groups map[uint32]Group
	past   departed
	early  map[uint32]error // failures of groups that do not exist here yet
	losses map[int]error    // why ranks that died are lost
	closed bool
}

func newRegistry() registry {
	return registry{groups: map[uint32]Group{}, early: map[uint32]error{}, losses: map[int]error{}}
}

// add registers a group. It returns the failure with which the group has to end at once,
// if there is one.
func (r *registry) add(g Group) (fails, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := g.ID()
	if r.closed {
		return nil, &failure.ClosedError{}
	}
	if r.groups[id] != nil {
		return nil, fmt.Errorf("thunder: group %#x exists already; close groups that are no longer used", id)
	}
	r.groups[id] = g
	for _, rank := range g.Ranks() {
		if err := r.losses[rank]; err != nil {
			fails = err
		}
	}
	if err := r.early[id]; err != nil {
		delete(r.early, id)
		fails = err
	}
	return fails, nil
}

// forget removes a group and remembers how far it came.
func (r *registry) forget(g Group) {
	seq, _ := g.Latest()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.groups, g.ID())
	r.past.add(g.ID(), seq)
}

// all returns the groups at this moment.
func (r *registry) all() []Group {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Group, 0, len(r.groups))
	for _, g := range r.groups {
		list = append(list, g)
	}
	return list
}

// get returns a group by its number, nil if there is none.
func (r *registry) get(id uint32) Group {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.groups[id]
}

// failed returns the group that another rank said has failed. If there is none, the
// failure is kept for the group to come.
func (r *registry) failed(id uint32, err error) Group {
	const most = 64 // a bound on what peers can leave here
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.groups[id]
	if g == nil && len(r.early) < most {
		r.early[id] = err
	}
	return g
}

// lose records why a rank is lost.
func (r *registry) lose(rank int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.losses[rank] = err
}

// leftBefore reports whether this rank closed a group before its operation seq began.
func (r *registry) leftBefore(id uint32, seq uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.past.before(id, seq)
}

// close refuses further groups. It reports whether it is the first call.
func (r *registry) close() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.closed = true
	return true
}

// closing reports whether close was called.
func (r *registry) closing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// departed remembers the groups that this rank closed most recently, and how many
// operations it had begun in each: a peer that waits for one more waits in vain.
type departed struct {
	groups [64]struct {
		id  uint32
		seq uint64
	}
	next int
}

// add remembers a group. Numbers of groups are not used twice.
func (d *departed) add(id uint32, seq uint64) {
	g := &d.groups[d.next%len(d.groups)]
	g.id, g.seq = id, seq
	d.next++
}

// before reports whether the group was closed before operation seq of it began.
func (d *departed) before(id uint32, seq uint64) bool {
	for _, g := range d.groups {
		if g.id == id {
			return g.seq < seq
		}
	}
	return false
}
