package group

import (
	"sync"
	"sync/atomic"
)

// A queue lets one operation at a time run, in the order in which they entered, and
// numbers them. Without contention, entering and leaving take one atomic step each.
type queue struct {
	// The number of the last operation, above two bits: somebody has the turn, and
	// others wait for it. The latter is never there without the former.
	state   atomic.Uint64
	mu      sync.Mutex // to wait, and to wake who does
	waiting []chan struct{}
}

const (
	queueBusy  = 1
	queueWaits = 2
	queueOne   = 4 // the unit of numbers
)

// enter takes a place for an operation and returns its number, from 1. A nil channel
// means that it is its turn; else its turn comes when the channel is closed.
func (q *queue) enter() (number uint64, turn <-chan struct{}) { return q.take(queueOne) }

// enterAndWait takes a place, without a number, and returns when it is its turn.
func (q *queue) enterAndWait() {
	if _, turn := q.take(0); turn != nil {
		<-turn
	}
}

func (q *queue) take(unit uint64) (uint64, <-chan struct{}) {
	s := q.state.Load()
	if next := s + unit; s&queueBusy == 0 && q.state.CompareAndSwap(s, next|queueBusy) {
		return next / queueOne, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		s := q.state.Load()
		next := s + unit
		switch {
		case s&queueBusy == 0:
			if q.state.CompareAndSwap(s, next|queueBusy) {
				return next / queueOne, nil
			}
		case q.state.CompareAndSwap(s, next|queueWaits):
			c := make(chan struct{})
			q.waiting = append(q.waiting, c)
			return next / queueOne, c
		}
	}
}

// leave ends the turn.
func (q *queue) leave() {
	if s := q.state.Load(); s&queueWaits == 0 && q.state.CompareAndSwap(s, s&^queueBusy) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	// Whoever takes the turn over may leave without the lock: so first the state.
	next := q.waiting[0]
	if q.waiting = q.waiting[1:]; len(q.waiting) == 0 {
		q.state.And(^uint64(queueWaits))
	}
	close(next)
}
