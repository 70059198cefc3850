package tcp

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/rendezvous/handshake"
)

const (
	// relayStreams is how many streams a link has that leads through others: its
	// speed is theirs, and each stream costs every relay its buffers.
	relayStreams = 2
	// relayBuffer is what a relay asks the system to buffer at either end of a
	// stream. Together with what is between the two, a stream holds less than
	// 2 MiB at a relay, whatever its ends do.
	relayBuffer = 256 << 10
	// maxRelayed bounds the streams that lead through a rank.
	maxRelayed = 1024
	// relayLinger is how long a rank that closes goes on passing for others, which
	// are most likely about to close too.
	relayLinger = 3 * time.Second
)

// askRelay asks the rank at the other end of c for the way to hello.To.
func (f *Fabric) askRelay(c *net.TCPConn, path *Path, hello handshake.Hello) error {
	return f.introduce(c, f.hello(handshake.PurposeRelay, path.Via, fabric.Channel(hello.To), 0, 1))
}

// openRelay opens the way on to the rank that an authenticated hello names. What
// that rank says about the first end is between the two of them: here only the
// bytes pass.
func (f *Fabric) openRelay(h handshake.Hello) (*net.TCPConn, error) {
	if err := f.checkHello(h); err != nil {
		return nil, err
	}
	to := int(h.Channel)
	if to < 0 || to >= f.Size() || to == f.cfg.Rank || to == int(h.From) {
		return nil, reject(handshake.WrongRank, "rank %d cannot pass anything from rank %d to rank %d", f.cfg.Rank, h.From, to)
	}
	ctx, cancel := context.WithTimeout(f.ctx, f.cfg.HandshakeTimeout)
	defer cancel()
	path := &f.paths(to)[0]
	c, err := path.dialer().DialContext(ctx, "tcp", path.Remote)
	if err != nil {
		return nil, reject(handshake.Busy, "rank %d, between the two, cannot reach rank %d at %s: %v", f.cfg.Rank, to, path, err)
	}
	onward := c.(*net.TCPConn)
	if path.Relay {
		stop := context.AfterFunc(ctx, func() { onward.SetDeadline(time.Unix(1, 0)) })
		err := f.askRelay(onward, path, handshake.Hello{To: uint32(to)})
		if !stop() || err != nil {
			onward.Close()
			return nil, reject(handshake.Busy, "rank %d, between the two, asked rank %d: %v", f.cfg.Rank, path.Via, err)
		}
	}
	if !f.relays.add(onward) {
		onward.Close()
		return nil, reject(handshake.Busy, "rank %d passes on for %d connections already, or is closing", f.cfg.Rank, maxRelayed)
	}
	return onward, nil
}

// relays are the connections that lead through this rank.
type relays struct {
	mu     sync.Mutex
	conns  map[*net.TCPConn]bool // onward, and where they come from
	closed bool
	idle   chan struct{} // closed when the last has ended; nil unless waited for
}

// add makes room for a connection; false if there is none.
func (r *relays) add(c *net.TCPConn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(r.conns) >= 2*maxRelayed {
		return false
	}
	if r.conns == nil {
		r.conns = map[*net.TCPConn]bool{}
	}
	r.conns[c] = true
	return true
}

// drop closes a connection and forgets it.
func (r *relays) drop(c *net.TCPConn) {
	c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
	if len(r.conns) == 0 && r.idle != nil {
		close(r.idle)
		r.idle = nil
	}
}

// join passes on what comes in at either end, as it comes, until both have said
// all. Each direction holds what its buffers hold; when they are full, the sender
// has to wait. So nothing that passes here can keep something else from passing.
func (r *relays) join(a, b *net.TCPConn) {
	if !r.add(a) {
		a.Close()
		r.drop(b)
		return
	}
	defer r.drop(a)
	defer r.drop(b)
	for _, c := range []*net.TCPConn{a, b} {
		c.SetReadBuffer(relayBuffer)
		c.SetWriteBuffer(relayBuffer)
	}
	var wg sync.WaitGroup
	wg.Go(func() { pass(a, b) })
	wg.Go(func() { pass(b, a) })
	wg.Wait()
}

// pass copies one direction, in the kernel where the system can. An end in good
// order is passed on as such, a break as a break.
func pass(to, from *net.TCPConn) {
	if _, err := io.Copy(to, from); err != nil {
		to.SetLinger(0)
		from.SetLinger(0)
		to.Close()
		from.Close()
		return
	}
	to.CloseWrite()
}

// drain waits for the connections to end by themselves, for a while.
func (r *relays) drain() {
	r.mu.Lock()
	r.closed = true
	idle := make(chan struct{})
	if len(r.conns) == 0 {
		r.mu.Unlock()
		return
	}
	r.idle = idle
	r.mu.Unlock()
	select {
	case <-idle:
	case <-time.After(relayLinger):
	}
}

// close ends them.
func (r *relays) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for c := range r.conns {
		c.Close()
	}
}
