package rendezvous

import (
	"container/list"
	"net"
	"sync"
)

// A pending holds the connections that have not yet proved who they are. When there are
// too many, the oldest is closed: an honest rank takes milliseconds, so the oldest is
// most likely a stranger that stays silent, and it cannot keep others out.
type pending struct {
	limit int

	mu     sync.Mutex
	conns  list.List // of net.Conn, oldest first
	closed bool
}

func newPending(limit int) *pending { return &pending{limit: limit} }

// add adds conn; remove removes it, and may be called more than once.
func (p *pending) add(conn net.Conn) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		conn.Close()
		return func() {}
	}
	if p.conns.Len() >= p.limit {
		oldest := p.conns.Front()
		oldest.Value.(net.Conn).Close()
		p.conns.Remove(oldest)
	}
	e := p.conns.PushBack(conn)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.conns.Remove(e) // does nothing if it is out already
	}
}

// close closes every connection in p, and those that are added later.
func (p *pending) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for e := p.conns.Front(); e != nil; e = e.Next() {
		e.Value.(net.Conn).Close()
	}
}
