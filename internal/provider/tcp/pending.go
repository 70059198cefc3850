package tcp

import (
	"net"
	"sync"

	"thundercollective/fabric"
	"thundercollective/internal/linktable"
)

// pending is a link from the moment somebody wants it: its streams come in one by
// one, in any order, dialled here or accepted from the peer, until it is whole.
type pending struct {
	key   linktable.Key
	ready chan struct{} // closed when link or err is set

	mu     sync.Mutex
	conns  []*net.TCPConn // by stream; nil where missing
	have   int
	link   *link
	err    error
	closed bool
}

// add puts one stream of n in place. It is false when there is no such place:
// the link is whole already, or its streams were counted differently. A stream that
// comes twice replaces the first, which its dialler has given up.
func (p *pending) add(c *net.TCPConn, stream, n int, build func([]*net.TCPConn) *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.link != nil || p.err != nil || (p.conns != nil && len(p.conns) != n) {
		return false
	}
	if p.conns == nil {
		p.conns = make([]*net.TCPConn, n)
	}
	if old := p.conns[stream]; old != nil {
		old.Close()
		p.have--
	}
	p.conns[stream] = c
	p.have++
	if p.have == n {
		p.link = build(p.conns)
		close(p.ready)
	}
	return true
}

// fail ends the attempt; whoever asks next starts another.
func (p *pending) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == nil && p.err == nil {
		p.err = err
		p.dropConns()
		close(p.ready)
	}
}

func (p *pending) failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err != nil
}

// get returns the link if it is whole.
func (p *pending) get() *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link
}

// result is valid once ready is closed.
func (p *pending) result() (fabric.Link, error) {
	if p.err != nil {
		return nil, p.err
	}
	return p.link.face, nil
}

// close breaks the link, whole or not.
func (p *pending) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.link != nil {
		p.link.face.Close()
		return
	}
	p.dropConns()
}

func (p *pending) dropConns() {
	for _, c := range p.conns {
		if c != nil {
			c.Close()
		}
	}
	p.conns, p.have = nil, 0
}
