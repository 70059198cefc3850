// Package faultproxy is a TCP proxy between two ranks of a test that injects the faults of
// cables and switches: delays, silence in one direction or both, resets, corrupt bytes,
// and low bandwidth.
package faultproxy

import (
	"net"
	"sync"
	"time"
)

// A Fault is what happens to the bytes of one direction.
type Fault struct {
	// Delay is added to every piece.
	Delay time.Duration
	// Silent holds everything back; it arrives when Silent is reset.
	Silent bool
	// Corrupt changes a byte of the next connection that transfers something: in the
	// middle of that piece, or after CorruptAfter bytes if that is not 0.
	Corrupt      bool
	CorruptAfter int
	// Rate, if not 0, is the bandwidth in bytes per second.
	Rate int
}

// A Proxy forwards the connections to its address to another address.
type Proxy struct {
	ln     net.Listener
	target string
	wg     sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed when a fault changes
	faults  [2]Fault      // by direction
	conns   map[*net.TCPConn]bool
	closed  bool
}

// The directions: to the target, and from it.
const (
	There = 0
	Back  = 1
)

// New returns a proxy on loopback in front of target.
func New(target string) (*Proxy, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{ln: ln, target: target, changed: make(chan struct{}), conns: map[*net.TCPConn]bool{}}
	p.wg.Go(p.accept)
	return p, nil
}

// Addr returns the address of the proxy.
func (p *Proxy) Addr() string { return p.ln.Addr().String() }

// Set changes what happens to the bytes of one direction.
func (p *Proxy) Set(direction int, f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults[direction] = f
	close(p.changed)
	p.changed = make(chan struct{})
}

// Reset breaks all connections with a reset.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.SetLinger(0)
		c.Close()
	}
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	close(p.changed)
	p.changed = make(chan struct{})
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.ln.Close()
	p.wg.Wait()
}

func (p *Proxy) accept() {
	for {
		c, err := p.ln.Accept()
		if err != nil {
			return
		}
		near := c.(*net.TCPConn)
		d, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = near.SetLinger(0)
			near.Close()
			continue
		}
		far := d.(*net.TCPConn)
		if !p.add(near, far) {
			return
		}
		p.wg.Go(func() {
			var both sync.WaitGroup
			both.Go(func() { p.pass(far, near, There) })
			both.Go(func() { p.pass(near, far, Back) })
			both.Wait()
			p.hangUp(near, far)
		})
	}
}

func (p *Proxy) add(conns ...*net.TCPConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.closed {
			c.Close()
		}
		p.conns[c] = true
	}
	return !p.closed
}

// pass forwards the bytes of one direction until the sender closes it, which it forwards
// too, or the receiver is gone. The other direction goes on: what was sent there before
// still arrives, as it does without a proxy. A silent direction does not forward the end
// of a connection, either.
func (p *Proxy) pass(to, from *net.TCPConn, direction int) {
	buf := make([]byte, 64<<10)
	damage := -1 // bytes until the one to change; -1 for none
	for {
		n, err := from.Read(buf)
		f, ok := p.next(direction, n > 0)
		if !ok {
			return
		}
		if f.Delay > 0 {
			time.Sleep(f.Delay)
		}
		if f.Corrupt {
			if damage = f.CorruptAfter; damage == 0 {
				damage = n / 2
			}
		}
		if damage >= 0 && damage < n {
			buf[damage] ^= 0x10
		}
		damage = max(damage-n, -1)
		if f.Rate > 0 {
			time.Sleep(time.Duration(n) * time.Second / time.Duration(f.Rate))
		}
		if _, werr := to.Write(buf[:n]); werr != nil {
			return
		}
		if err != nil {
			_ = to.CloseWrite()
			return
		}
	}
}

// next waits until a direction is not silent and returns its fault. It consumes Corrupt
// only if there is some data to damage.
func (p *Proxy) next(direction int, some bool) (Fault, bool) {
	for {
		p.mu.Lock()
		f, changed, closed := p.faults[direction], p.changed, p.closed
		f.Corrupt = f.Corrupt && some
		if f.Corrupt && !f.Silent {
			p.faults[direction].Corrupt = false
		}
		p.mu.Unlock()
		if closed || !f.Silent {
			return f, !closed
		}
		<-changed
	}
}

func (p *Proxy) hangUp(conns ...*net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		c.Close()
		delete(p.conns, c)
	}
}
