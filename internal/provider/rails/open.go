package rails

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"thundercollective/fabric"
)

const (
	retryFirst = 10 * time.Millisecond
	retryMost  = 500 * time.Millisecond
	// greetTime bounds one attempt to open a stream.
	greetTime = 5 * time.Second
	// stragglerTime is how long the first stream of a link waits for the others.
	stragglerTime = 1500 * time.Millisecond
)

// An opener opens the streams of a link, reopens lost ones for as long as the link is
// wanted, and decides when the link may be used. It is guarded by link.mu, except for
// ready, ctx and stop, which do not change.
type opener struct {
	l  *link
	id uint64 // carried by the greetings of all streams; 0 before the first

	ready chan struct{}   // closed when isUp or err is set
	ctx   context.Context // ends when no more streams are wanted
	stop  context.CancelCauseFunc

	wanted  bool  // Fabric.Link was called for it
	isUp    bool  // the link may be used
	done    bool  // ctx has ended
	trouble error // of the last attempt
	err     error // why the link did not come up
}

func newOpener(l *link) opener {
	o := opener{l: l, ready: make(chan struct{})}
	o.ctx, o.stop = context.WithCancelCause(l.f.ctx)
	return o
}

// keepAll starts the goroutines that keep the streams open which this end opens.
func (o *opener) keepAll() {
	for i := range o.l.streams.list {
		if o.l.dials() || o.l.streams.railOf(i).BothOpen {
			o.l.f.wg.Go(func() { o.keep(i) })
		}
	}
}

// keep opens a stream, and reopens it when it is lost, for as long as the link is
// wanted.
func (o *opener) keep(i int) {
	ctx := o.ctx
	wait := retryFirst
	for ctx.Err() == nil {
		if o.has(i) {
			wait = retryFirst
		} else if err := o.open(ctx, i); err == nil {
			continue
		} else if o.note(i, err) {
			return
		}
		select {
		case <-time.After(wait):
			wait = min(2*wait, retryMost)
		case <-ctx.Done():
		}
	}
}

// has reports whether a stream is alive. If so, it returns only when the stream is gone
// or the link ends.
func (o *opener) has(i int) bool {
	o.l.mu.Lock()
	s := o.l.streams.list[i]
	o.l.mu.Unlock()
	if s == nil {
		return false
	}
	select {
	case <-s.over:
	case <-o.ctx.Done():
	}
	return true
}

// note records why a stream could not be opened. It reports whether trying again is
// pointless, in which case a link that is not up yet is abandoned.
func (o *opener) note(i int, err error) bool {
	var pair *PairError
	r := o.l.streams.railOf(i)
	if errors.As(err, &pair) || r.Final != nil && r.Final(err) {
		// A link that is up has agreed on its rails before; it may again.
		if o.abandon(fmt.Errorf("rails: rank %d on %s: %w", o.l.peer, o.l.f.host(o.l.peer), err)) {
			return true
		}
	}
	r.failing(err)
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	o.trouble = err
	o.l.out.wake.Broadcast()
	return false
}

// open makes one attempt to open a stream and to agree on it with the other end.
func (o *opener) open(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, greetTime)
	defer cancel()
	r := o.l.streams.railOf(i)
	conn, err := r.Open(ctx, o.l.ch, i, len(o.l.streams.list))
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	if o.l.dials() {
		g := greeting{link: o.ident(), stream: uint16(i), streams: uint16(len(o.l.streams.list)), sums: o.l.f.cfg.Checksum, near: r.Near, far: r.Far}
		if err = g.write(conn); err == nil {
			err = readReply(conn)
		}
	} else {
		err = o.answer(conn, i)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return err
	}
	if !o.l.attach(i, conn) {
		conn.Close()
		return fabric.ErrClosed
	}
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	o.l.out.wake.Broadcast()
	return nil
}

// ident returns a random number that tells this link from earlier ones to the same peer.
func (o *opener) ident() uint64 {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	for o.id == 0 {
		var b [8]byte
		rand.Read(b[:])
		o.id = binary.LittleEndian.Uint64(b[:])
	}
	return o.id
}

// waitForRails waits until all streams are open, or one is and the others have had
// stragglerTime to follow.
func (o *opener) waitForRails(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		o.l.mu.Lock()
		defer o.l.mu.Unlock()
		o.l.out.wake.Broadcast()
	})()
	late := false
	var timer *time.Timer
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	for !o.isUp {
		switch {
		case o.err != nil:
			return o.err
		case o.l.closed:
			return fabric.ErrClosed
		case ctx.Err() != nil:
			err := context.Cause(ctx)
			if o.trouble != nil {
				err = fmt.Errorf("%w (last try: %w)", err, o.trouble)
			}
			return err
		case o.l.streams.live == len(o.l.streams.list) || o.l.streams.live > 0 && late:
			o.up()
			continue
		case o.l.streams.live > 0 && timer == nil:
			timer = time.AfterFunc(stragglerTime, func() {
				o.l.mu.Lock()
				defer o.l.mu.Unlock()
				late = true
				o.l.out.wake.Broadcast()
			})
			defer timer.Stop()
		}
		o.l.out.wake.Wait()
	}
	return nil
}

// startError returns why the link did not come up.
func (o *opener) startError() error {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	return o.err
}

func (o *opener) failed() bool { return o.startError() != nil }

// up marks the link as usable. The caller holds the lock.
func (o *opener) up() {
	if o.isUp || o.done {
		return
	}
	o.isUp = true
	close(o.ready)
	if o.l.dials() {
		for _, s := range o.l.streams.list {
			if s != nil {
				s.goDue = true
				s.wake.Signal()
			}
		}
	}
}

// abandon gives up a link that has not come up yet; it reports false if it has.
func (o *opener) abandon(err error) bool {
	l := o.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.isUp || o.err != nil {
		return !o.isUp
	}
	o.err = err
	close(o.ready)
	o.finish()
	l.dropAll(err)
	l.out.wake.Broadcast() // for waitForRails
	return true
}

// finish stops opening streams. The caller holds the lock.
func (o *opener) finish() {
	if !o.done {
		o.done = true
		o.stop(fabric.ErrClosed)
	}
}
