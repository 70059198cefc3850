package stream

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// cable is a fake of the driver: two machines, each with a configfs of its own, and
// streams that join the endpoints of the same name.
type cable struct {
	dirs [2]string // configfs of both ends

	mu      sync.Mutex
	streams map[string]*fakeStream
	open    map[*fakeEnd]bool
	cut     bool
	corrupt int // flips a bit of every so many-th frame; 0 for none
	frames  int
}

// fakeStream is one stream: a bounded queue of frames in each direction.
type fakeStream struct {
	ends [2]*fakeEnd // nil while that end is not open
}

// fakeEnd is an open device.
type fakeEnd struct {
	c      *cable
	s      *fakeStream
	side   int
	wake   *sync.Cond
	queue  [][]byte // frames that have arrived
	eof    bool     // the other end sent CLOSE
	closed bool
}

const ringSize = 32

func newCable(t *testing.T) *cable {
	c := &cable{streams: map[string]*fakeStream{}, open: map[*fakeEnd]bool{}}
	for i := range c.dirs {
		c.dirs[i] = t.TempDir()
	}
	return c
}

// opener returns OpenDevice of one end. The devices' numbers are those that the
// index attribute holds, which mkdir makes in a real configfs: here it is made when
// it is missing, by watching for the directory.
func (c *cable) opener(side int) func(path string) (Device, error) {
	return func(path string) (Device, error) {
		name := c.nameOf(side, path)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.cut || !c.exists(1-side, name) {
			return nil, &os.PathError{Op: "open", Path: path, Err: syscall.ENXIO}
		}
		s := c.streams[name]
		if s == nil {
			s = &fakeStream{}
			c.streams[name] = s
		}
		if s.ends[side] != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: syscall.EBUSY}
		}
		e := &fakeEnd{c: c, s: s, side: side, wake: sync.NewCond(&c.mu)}
		s.ends[side] = e
		c.open[e] = true
		return e, nil
	}
}

// nameOf finds the stream of a device by its number.
func (c *cable) nameOf(side int, path string) string {
	number := strings.TrimPrefix(filepath.Base(path), "tbstream")
	found, _ := filepath.Glob(filepath.Join(c.dirs[side], "*", "*", "index"))
	for _, f := range found {
		if text, _ := os.ReadFile(f); strings.TrimSpace(string(text)) == number {
			return filepath.Base(filepath.Dir(f))
		}
	}
	return ""
}

func (c *cable) exists(side int, name string) bool {
	found, _ := filepath.Glob(filepath.Join(c.dirs[side], "*", name))
	return len(found) > 0
}

// Write takes half of what is longer than a frame, in whole frames, and at the most
// what the ring has room for. What nobody has opened is lost.
func (e *fakeEnd) Write(p []byte) (int, error) {
	e.c.mu.Lock()
	defer e.c.mu.Unlock()
	take := len(p)
	if take > frameSize {
		take = max(frameSize, take/2/frameSize*frameSize)
	}
	for n := 0; n < take; {
		peer := e.s.ends[1-e.side]
		for !e.closed && !e.c.cut && peer != nil && len(peer.queue) >= ringSize {
			if n > 0 {
				return n, nil // a blocking write waits for one free frame only
			}
			e.wake.Wait()
			peer = e.s.ends[1-e.side]
		}
		switch {
		case e.closed:
			return n, os.ErrClosed
		case e.c.cut:
			return n, &os.PathError{Op: "write", Err: syscall.ENXIO}
		}
		k := min(take-n, frameSize)
		f := append([]byte(nil), p[n:n+k]...)
		e.c.frames++
		if e.c.corrupt > 0 && e.c.frames%e.c.corrupt == 0 {
			f[len(f)/2] ^= 0x10 // delivered like any other
		}
		if peer != nil {
			peer.queue = append(peer.queue, f)
			peer.wake.Broadcast()
		}
		n += k
	}
	return take, nil
}

// Read merges frames.
func (e *fakeEnd) Read(p []byte) (int, error) {
	e.c.mu.Lock()
	defer e.c.mu.Unlock()
	for len(e.queue) == 0 {
		switch {
		case e.closed:
			return 0, os.ErrClosed
		case e.c.cut:
			return 0, &os.PathError{Op: "read", Err: syscall.ENXIO}
		case e.eof:
			return 0, io.EOF
		}
		e.wake.Wait()
	}
	n := 0
	for n < len(p) && len(e.queue) > 0 {
		k := copy(p[n:], e.queue[0])
		n += k
		if e.queue[0] = e.queue[0][k:]; len(e.queue[0]) == 0 {
			e.queue = e.queue[1:]
		}
	}
	if peer := e.s.ends[1-e.side]; peer != nil {
		peer.wake.Broadcast()
	}
	return n, nil
}

func (e *fakeEnd) Close() error {
	e.c.mu.Lock()
	defer e.c.mu.Unlock()
	if e.closed {
		return os.ErrClosed
	}
	e.closed = true
	e.s.ends[e.side] = nil
	delete(e.c.open, e)
	if peer := e.s.ends[1-e.side]; peer != nil {
		peer.eof = true
		peer.wake.Broadcast()
	}
	e.wake.Broadcast()
	return nil
}

// unplug takes the cable out: everything ends with ENXIO.
func (c *cable) unplug() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	for e := range c.open {
		e.wake.Broadcast()
	}
}

// populate stands for the kernel, which gives every new directory its attributes.
func (c *cable) populate(t *testing.T, side int, service string, names ...string) {
	t.Helper()
	for i, name := range names {
		dir := filepath.Join(c.dirs[side], service, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "index"), fmt.Appendf(nil, "%d\n", i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
