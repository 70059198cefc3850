package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"thundercollective/fabric"
	"thundercollective/rendezvous/handshake"
)

const (
	retryFirst = 5 * time.Millisecond
	retryMost  = 250 * time.Millisecond
)

// dial opens all streams of a link, side by side, and retries what may yet
// succeed until ctx ends: the peer may not have started.
func (f *Fabric) dial(ctx context.Context, p *pending) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(f.ctx, func() { cancel(fabric.ErrClosed) })()

	n := f.cfg.Streams
	if quiet(p.key.ch) {
		n = 1
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			c, err := f.dialStream(ctx, p.key, i, n)
			if err != nil {
				cancel(err) // one stream that cannot be opened ends the others
				p.fail(err)
				return
			}
			if !p.add(c, i, n, f.builder(p.key)) {
				c.Close()
			}
		})
	}
	wg.Wait()
}

// dialStream opens and authenticates one stream. The peer's addresses take turns,
// beginning at a different one for each stream.
func (f *Fabric) dialStream(ctx context.Context, k linkKey, stream, streams int) (*net.TCPConn, error) {
	addrs := f.cfg.Peers[k.peer]
	hello := handshake.Hello{
		Purpose: handshake.PurposeLink, Generation: f.cfg.Generation,
		From: uint32(f.cfg.Rank), To: uint32(k.peer), Size: uint32(f.Size()),
		Channel: uint32(k.ch), Stream: uint16(stream), Streams: uint16(streams),
	}
	wait := retryFirst
	for try := 0; ; try++ {
		addr := addrs[(stream+try)%len(addrs)]
		c, err := f.dialOnce(ctx, addr, hello)
		if err == nil {
			return c, nil
		}
		err = fmt.Errorf("tcp: connecting to rank %d at %s: %w", k.peer, addr, err)
		if final(err) {
			return nil, err
		}
		if (try+1)%len(addrs) != 0 {
			continue
		}
		select {
		case <-time.After(wait):
			wait = min(2*wait, retryMost)
		case <-ctx.Done():
			return nil, fmt.Errorf("%w (last try: %w)", context.Cause(ctx), err)
		}
	}
}

// dialOnce makes one attempt at one address.
func (f *Fabric) dialOnce(ctx context.Context, addr string, hello handshake.Hello) (*net.TCPConn, error) {
	ctx, cancel := context.WithTimeout(ctx, f.cfg.HandshakeTimeout)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	err = handshake.Dial(c, hello, f.cfg.Token)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c.(*net.TCPConn), nil
}

// final says that another try would end the same way.
func final(err error) bool {
	var auth *handshake.AuthError
	var proto *handshake.ProtocolError
	var rejected *handshake.RejectedError
	switch {
	case errors.As(err, &auth), errors.As(err, &proto):
		return true
	case errors.As(err, &rejected):
		return rejected.Code != handshake.Busy
	}
	return false
}
