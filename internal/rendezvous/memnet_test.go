package rendezvous

import (
	"context"
	"errors"
	"net"
	"sync"
)

// A memNet is a network without sockets, so that synctest can fake its time. One
// listener at a time; connecting while there is none is refused.
type memNet struct {
	mu sync.Mutex
	ln *memListener
}

var errRefused = errors.New("connection refused")

func (n *memNet) listen() net.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ln = &memListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	return n.ln
}

func (n *memNet) dial(ctx context.Context, _ string) (net.Conn, error) {
	n.mu.Lock()
	ln := n.ln
	n.mu.Unlock()
	if ln == nil {
		return nil, errRefused
	}
	client, server := net.Pipe()
	select {
	case ln.conns <- server:
		return client, nil
	case <-ln.closed:
		return nil, errRefused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type memListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *memListener) Addr() net.Addr { return &net.UnixAddr{Name: "mem"} }

// failing is a dial that fails.
func failing(err error) func(context.Context, string) (net.Conn, error) {
	return func(context.Context, string) (net.Conn, error) { return nil, err }
}
