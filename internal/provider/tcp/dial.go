package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/linktable"
	"thundercollective/internal/rendezvous/handshake"
)

const (
	retryFirst = 5 * time.Millisecond
	retryMost  = 250 * time.Millisecond
	// retryBusy is for a peer that is there but too busy with others, perhaps
	// strangers, to listen.
	retryBusy = 20 * time.Millisecond
)

// dial opens all streams of a link, side by side, and retries what may yet
// succeed until ctx ends: the peer may not have started.
func (f *Fabric) dial(ctx context.Context, p *pending) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(f.ctx, func() { cancel(fabric.ErrClosed) })()

	paths := f.paths(p.key.Peer)
	n := f.cfg.Streams
	switch {
	case quiet(p.key.Channel):
		n = 1
	case paths[0].Relay:
		n = min(n, relayStreams)
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			c, err := f.dialStream(ctx, p.key, paths, i, n)
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

// dialStream opens and authenticates one stream. The ways to the peer take turns,
// beginning at a different one for each stream.
func (f *Fabric) dialStream(ctx context.Context, k linktable.Key, paths []Path, stream, streams int) (*net.TCPConn, error) {
	hello := f.hello(handshake.PurposeLink, k.Peer, k.Channel, stream, streams)
	wait := retryFirst
	var broke error // the last connection that ended before the peer's verdict was here
	for try := 0; ; try++ {
		path := &paths[(stream+try)%len(paths)]
		c, err := f.dialOnce(ctx, path, hello)
		if err == nil {
			return c, nil
		}
		if rejected, ok := errors.AsType[*handshake.RejectedError](err); ok && rejected.Code == handshake.DuplicateRank && broke != nil {
			// The verdict was yes: to the peer, this link is made, and has broken.
			return nil, &fabric.LostError{Peer: k.Peer, Addr: path.Remote, Err: broke}
		}
		if turnedAway(err) || errors.Is(err, os.ErrDeadlineExceeded) {
			broke = err
		}
		err = fmt.Errorf("tcp: connecting to rank %d at %s: %w", k.Peer, path, err)
		if Final(err) {
			return nil, err
		}
		if (try+1)%len(paths) != 0 {
			continue
		}
		if turnedAway(err) {
			wait = min(wait, retryBusy)
		}
		select {
		case <-time.After(wait):
			wait = min(2*wait, retryMost)
		case <-ctx.Done():
			return nil, fmt.Errorf("%w (last try: %w)", context.Cause(ctx), err)
		}
	}
}

// DialRail makes one attempt to open a stream to peer along path, for a link over
// several rails. The other end finds it with its OnRail.
func (f *Fabric) DialRail(ctx context.Context, peer int, path *Path, ch fabric.Channel, stream, streams int) (*net.TCPConn, error) {
	c, err := f.dialOnce(ctx, path, f.hello(handshake.PurposeRail, peer, ch, stream, streams))
	if err != nil {
		return nil, fmt.Errorf("tcp: connecting to rank %d at %s: %w", peer, path, err)
	}
	return c, nil
}

// hello introduces this rank to another.
func (f *Fabric) hello(purpose uint8, to int, ch fabric.Channel, stream, streams int) handshake.Hello {
	return handshake.Hello{
		Purpose: purpose, Generation: f.cfg.Generation,
		From: uint32(f.cfg.Rank), To: uint32(to), Size: uint32(f.Size()),
		Channel: uint32(ch), Stream: uint16(stream), Streams: uint8(streams), Settings: f.settings(to), Roster: f.cfg.Roster.Sum(),
	}
}

// dialOnce makes one attempt along one path. A relay is asked for the way through
// it first; what follows then is between this rank and the peer behind it.
func (f *Fabric) dialOnce(ctx context.Context, path *Path, hello handshake.Hello) (*net.TCPConn, error) {
	ctx, cancel := context.WithTimeout(ctx, f.cfg.HandshakeTimeout)
	defer cancel()
	d := path.dialer()
	conn, err := d.DialContext(ctx, "tcp", path.Remote)
	if err != nil {
		return nil, err
	}
	c := conn.(*net.TCPConn)
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	if path.Relay {
		err = f.askRelay(c, path, hello)
	}
	if err == nil {
		err = f.introduce(c, hello)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// introduce performs the handshake with the rank at the other end of a connection.
func (f *Fabric) introduce(c *net.TCPConn, hello handshake.Hello) error {
	err := handshake.Dial(c, hello, f.cfg.Token)
	if rosterDiffers(err) {
		err = f.cfg.Roster.Compare(c, f.cfg.Rank, int(hello.To))
	}
	return err
}

// rosterDiffers reports whether a peer was refused because the two were told different
// things about the job.
func rosterDiffers(err error) bool {
	rejected, ok := errors.AsType[*handshake.RejectedError](err)
	return ok && rejected.Code == handshake.RosterDiffers
}

// turnedAway reports whether an error of dialling means that the peer, or whoever is in
// its place, has accepted the connection and closed it.
func turnedAway(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)
}

// Final reports whether after an error of dialling another try would fail in the same way.
func Final(err error) bool {
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
