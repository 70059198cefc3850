package launch

import (
	"io"
	"sync"

	"thundercollective/internal/launch/remote"
	"thundercollective/internal/launch/wire"
)

// A feed forwards the launcher's stdin to ranks. It outlives generations: a generation does
// not see again what an earlier one has read.
type feed struct {
	mu      sync.Mutex
	cond    sync.Cond
	targets map[int]*target // by rank
	ended   bool            // stdin has ended
	closed  bool
}

// A target is a rank that receives input.
type target struct {
	agent  *remote.Agent
	window int // bytes that may still be sent
}

// newFeed starts to read from r, which may be nil.
func newFeed(r io.Reader) *feed {
	f := &feed{ended: r == nil, targets: map[int]*target{}}
	f.cond.L = &f.mu
	if r != nil {
		go f.pump(r)
	}
	return f
}

// pump reads and sends. A Read cannot be interrupted, so nobody waits for pump.
func (f *feed) pump(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 && !f.deliver(buf[:n]) {
			return
		}
		if err != nil {
			f.mu.Lock()
			f.ended = true
			f.sendEnd()
			f.mu.Unlock()
			return
		}
	}
}

// deliver sends p to every target as soon as each has room for it. It reports whether the
// feed is still open.
func (f *feed) deliver(p []byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.closed && !f.room(len(p)) {
		f.cond.Wait()
	}
	if f.closed {
		return false
	}
	for rank, t := range f.targets {
		t.window -= len(p)
		t.agent.SendData(wire.KindStdin, rank, p)
	}
	return true
}

func (f *feed) room(n int) bool {
	for _, t := range f.targets {
		if t.window < n {
			return false
		}
	}
	return len(f.targets) > 0
}

func (f *feed) sendEnd() {
	for rank, t := range f.targets {
		t.agent.Send(wire.KindStdinEnd, rank, nil)
	}
}

// reset removes all targets, for a new generation.
func (f *feed) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.targets)
}

// attach adds ranks that receive input. They are added together because they must receive
// the same input.
func (f *feed) attach(ranks map[int]*remote.Agent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for rank, a := range ranks {
		f.targets[rank] = &target{agent: a, window: wire.StdinWindow}
		if f.ended {
			a.Send(wire.KindStdinEnd, rank, nil)
		}
	}
	f.cond.Broadcast()
}

// taken gives a rank room for n more bytes.
func (f *feed) taken(rank, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.targets[rank]; t != nil {
		t.window += n
		f.cond.Broadcast()
	}
}

// detach removes a rank that has ended.
func (f *feed) detach(rank int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.targets, rank)
	f.cond.Broadcast()
}

func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.cond.Broadcast()
}
