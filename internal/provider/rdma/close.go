package rdma

import (
	"context"
	"time"

	"thundercollective/fabric"
)

// finish ends a closed link: it waits until calls have returned and what was sent has
// arrived, says goodbye to the peer, and releases everything.
func (l *Link) finish() {
	defer close(l.ended)
	l.mu.Lock()
	for l.busy > 0 {
		l.left.Wait()
	}
	l.toPeer.watch.Clear()
	l.fromPeer.watch.Clear()
	l.mu.Unlock()

	l.settleDown()
	l.goodbye()
	l.boot.Close() // ends watch
	l.mu.Lock()
	l.failQPs()
	l.drain()
	l.torn = true
	l.mu.Unlock()
	l.stopEvents()
	close(l.engine.stop)
	l.wg.Wait()
	l.f.note(l.closeRails())
}

// stopEvents ends the goroutines that wait for completions.
func (l *Link) stopEvents() {
	for _, r := range l.rails {
		if r.ch != nil {
			r.ch.Stop()
		}
	}
}

// settleDown waits until the peer has what was sent, for at most Config.Linger.
func (l *Link) settleDown() {
	nap := shortNap
	for deadline := time.Now().Add(l.f.cfg.Linger); time.Now().Before(deadline); nap = min(2*nap, longNap) {
		l.mu.Lock()
		l.engine.poll(nil)
		over := l.err != nil || l.delivered()
		l.mu.Unlock()
		if over {
			return
		}
		time.Sleep(nap)
	}
}

// delivered reports whether the peer has all data messages.
func (l *Link) delivered() bool {
	for _, ln := range l.lanes {
		if !ln.delivered() {
			return false
		}
	}
	return true
}

// goodbye tells the peer that the link was closed.
func (l *Link) goodbye() {
	ctx, cancel := context.WithTimeout(context.Background(), l.f.cfg.Linger)
	defer cancel()
	fabric.Send(ctx, l.boot, byeTag, []byte{0}) // a peer that is gone does not need it
}

// drain takes the completions of the requests that the failed queue pairs flush, for a
// limited time.
func (l *Link) drain() {
	for deadline := time.Now().Add(200 * time.Millisecond); time.Now().Before(deadline); {
		l.engine.poll(nil)
		left := 0
		for _, ln := range l.lanes {
			left += ln.in.posted + ln.out.flight.len()
		}
		if left == 0 {
			return
		}
		l.mu.Unlock()
		time.Sleep(shortNap)
		l.mu.Lock()
	}
}
