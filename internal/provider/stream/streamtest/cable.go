package streamtest

import (
	"io"
	"os"
	"sync"
	"syscall"
)

const (
	frameSize = 4096
	ringSize  = 32
)

// A Cable connects the streams of the same name at its ends.
type Cable struct {
	ends     [2]*Machine
	services [2]string

	mu      sync.Mutex
	streams map[string]*fakeStream
	open    map[*device]bool
	cut     bool
	hung    bool
	corrupt int // flips a bit in every corrupt-th frame; 0 for none
	frames  int
	spare   []*frame
}

// frame is an entry of the ring: n bytes, of which the reader has taken off bytes.
type frame struct {
	buf    [frameSize]byte
	off, n int
}

// fakeStream is one stream.
type fakeStream struct {
	ends [2]*device // nil while that end is not open
}

// device is an open end of a stream, with a bounded queue of received frames.
type device struct {
	c      *Cable
	s      *fakeStream
	side   int
	wake   *sync.Cond
	queue  []*frame
	eof    bool // the other end sent CLOSE
	gone   bool // the cable was unplugged
	closed bool
}

// attach opens one end of a stream. The other machine must have created its own.
func (c *Cable) attach(side int, name string) (*device, error) {
	peer := c.ends[1-side].has(c.services[1-side], name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut || !peer {
		return nil, syscall.ENXIO
	}
	s := c.streams[name]
	if s == nil {
		s = &fakeStream{}
		c.streams[name] = s
	}
	if s.ends[side] != nil {
		return nil, syscall.EBUSY
	}
	d := &device{c: c, s: s, side: side, wake: sync.NewCond(&c.mu)}
	s.ends[side] = d
	c.open[d] = true
	return d, nil
}

// Unplug unplugs the cable: everything fails with ENXIO.
func (c *Cable) Unplug() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	for d := range c.open {
		d.gone = true
		d.wake.Broadcast()
	}
}

// Plug plugs the cable in again.
func (c *Cable) Plug() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = false
}

// Hang silently drops everything that is sent from now on.
func (c *Cable) Hang() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hung = true
}

// Corrupt flips a bit of every n-th frame from now on; 0 for none.
func (c *Cable) Corrupt(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corrupt = n
}

// Frames returns how many frames were sent over the cable.
func (c *Cable) Frames() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frames
}

// frame fills a frame that is not in use. It reuses memory, so that tests can count the
// allocations of the code under test.
func (c *Cable) frame(p []byte) *frame {
	if len(c.spare) == 0 {
		c.spare = append(c.spare, new(frame))
	}
	k := len(c.spare) - 1
	f := c.spare[k]
	c.spare = c.spare[:k]
	f.off, f.n = 0, copy(f.buf[:], p)
	return f
}

// Write accepts half of what is longer than a frame, in whole frames, and no more than
// the ring has room for. What is written before the other end is open is lost.
func (d *device) Write(p []byte) (int, error) {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	take := len(p)
	if take > frameSize {
		take = max(frameSize, take/2/frameSize*frameSize)
	}
	for n := 0; n < take; {
		peer := d.s.ends[1-d.side]
		for !d.closed && !d.gone && peer != nil && len(peer.queue) >= ringSize {
			if n > 0 {
				return n, nil // a blocking write waits for only one free frame
			}
			d.wake.Wait()
			peer = d.s.ends[1-d.side]
		}
		switch {
		case d.closed:
			return n, os.ErrClosed
		case d.gone:
			return n, pathError("write", "tbstream", syscall.ENXIO)
		}
		k := min(take-n, frameSize)
		f := d.c.frame(p[n : n+k])
		d.c.frames++
		if d.c.corrupt > 0 && d.c.frames%d.c.corrupt == 0 {
			f.buf[f.n/2] ^= 0x10 // delivered without an error
		}
		if peer == nil || d.c.hung {
			d.c.spare = append(d.c.spare, f)
		} else {
			peer.queue = append(peer.queue, f)
			peer.wake.Broadcast()
		}
		n += k
	}
	return take, nil
}

// Read merges frames.
func (d *device) Read(p []byte) (int, error) {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	for len(d.queue) == 0 {
		switch {
		case d.closed:
			return 0, os.ErrClosed
		case d.gone:
			return 0, pathError("read", "tbstream", syscall.ENXIO)
		case d.eof:
			return 0, io.EOF
		}
		d.wake.Wait()
	}
	n := 0
	for n < len(p) && len(d.queue) > 0 {
		f := d.queue[0]
		k := copy(p[n:], f.buf[f.off:f.n])
		n += k
		if f.off += k; f.off == f.n {
			d.c.spare = append(d.c.spare, f)
			d.queue = append(d.queue[:0], d.queue[1:]...) // reuses its memory
		}
	}
	if peer := d.s.ends[1-d.side]; peer != nil {
		peer.wake.Broadcast()
	}
	return n, nil
}

// Close sends CLOSE.
func (d *device) Close() error {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	if d.closed {
		return os.ErrClosed
	}
	d.closed = true
	d.s.ends[d.side] = nil
	delete(d.c.open, d)
	if peer := d.s.ends[1-d.side]; peer != nil {
		peer.eof = true
		peer.wake.Broadcast()
	}
	d.wake.Broadcast()
	return nil
}
