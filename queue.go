package thunder

import "sync"

// A queue lets one operation at a time run, in the order in which they entered.
type queue struct {
	mu      sync.Mutex
	busy    bool
	waiting []chan struct{}
}

// enter takes a place. A nil channel means that it is this operation's turn; else
// its turn comes when the channel is closed. order, if not nil, is called while
// no other operation can enter.
func (q *queue) enter(order func()) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if order != nil {
		order()
	}
	if !q.busy {
		q.busy = true
		return nil
	}
	c := make(chan struct{})
	q.waiting = append(q.waiting, c)
	return c
}

// leave ends the turn.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.busy = false
		return
	}
	close(q.waiting[0])
	q.waiting = q.waiting[1:]
}

// enterAndWait takes a place and returns when it is its turn.
func (q *queue) enterAndWait() {
	if c := q.enter(nil); c != nil {
		<-c
	}
}
