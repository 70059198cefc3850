package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"thundercollective/internal/crc32c"
)

// A Device is one open USB4 stream. Read and Write may transfer less than asked.
type Device = io.ReadWriteCloser

const (
	frameSize = 4096
	// A block is a header and up to blockSize bytes; together whole frames.
	headSize  = 16
	blockSize = 16*frameSize - headSize
)

// Errors of a rail, which do not mean that the peer is lost.
var (
	// ErrCorrupt means that bytes were changed or lost on the cable.
	ErrCorrupt = errors.New("stream: a block was damaged on the way")
	// ErrSilent means that nothing has arrived from the other end for too long.
	ErrSilent = errors.New("stream: nothing arrived for too long")
)

// Conn is a reliable bidirectional byte stream over two devices: an error on the cable
// ends it. It must be read all the time: an end that does not read receives no
// heartbeats and concludes that the cable is dead.
//
// writing guards the fields for writing, mu guards err; the fields for reading belong to
// the reader.
type Conn struct {
	in, out Device
	name    string
	silence time.Duration
	onClose func()

	writing sync.Mutex
	wbuf    []byte
	wseq    uint32
	wrote   time.Time

	rbuf  []byte // the block that is being read
	rest  []byte // the part of it that Read has not returned
	rseq  uint32
	watch *time.Timer // fires when nothing has arrived for silence

	mu     sync.Mutex
	err    error
	closed chan struct{}
	once   sync.Once
	wg     sync.WaitGroup
}

// newConn returns a Conn over devices whose ends have met.
func newConn(in, out Device, name string, silence time.Duration, onClose func()) *Conn {
	c := &Conn{
		in: in, out: out, name: name, silence: silence, onClose: onClose,
		wbuf: make([]byte, headSize+blockSize), rbuf: make([]byte, headSize+blockSize), closed: make(chan struct{}),
	}
	c.watch = time.AfterFunc(silence, func() { c.fail(ErrSilent) })
	c.wg.Go(c.beat)
	return c
}

// beat sends an empty block whenever nothing was sent for a while.
func (c *Conn) beat() {
	every := c.silence / 4
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-c.closed:
			return
		case <-tick.C:
			c.writing.Lock()
			if time.Since(c.wrote) >= every {
				c.block(nil)
			}
			c.writing.Unlock()
		}
	}
}

// Write implements io.Writer.
func (c *Conn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	n := 0
	for n < len(p) {
		k := min(len(p)-n, blockSize)
		if err := c.block(p[n : n+k]); err != nil {
			return n, err
		}
		n += k
	}
	return n, nil
}

// block sends one block: number, length, checksum over both and the bytes.
func (c *Conn) block(p []byte) error {
	b := c.wbuf[:headSize+len(p)]
	le := binary.LittleEndian
	le.PutUint32(b[0:], c.wseq)
	le.PutUint32(b[4:], uint32(len(p)))
	le.PutUint32(b[8:], 0)
	le.PutUint32(b[12:], 0)
	copy(b[headSize:], p)
	le.PutUint32(b[8:], crc32c.Sum(b))
	c.wseq++
	c.wrote = time.Now()
	for len(b) > 0 {
		n, err := c.out.Write(b)
		if err != nil {
			return c.fail(err)
		}
		b = b[n:]
	}
	return nil
}

// Read implements io.Reader.
func (c *Conn) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// next reads one block.
func (c *Conn) next() error {
	if err := c.failure(); err != nil {
		return err // reading past the end is not allowed
	}
	head := c.rbuf[:headSize]
	if _, err := io.ReadFull(c.in, head); err != nil {
		return c.fail(err)
	}
	le := binary.LittleEndian
	n := le.Uint32(head[4:])
	if n > blockSize || le.Uint32(head[0:]) != c.rseq {
		return c.fail(ErrCorrupt)
	}
	b := c.rbuf[:headSize+int(n)]
	if _, err := io.ReadFull(c.in, b[headSize:]); err != nil {
		return c.fail(err)
	}
	sum := le.Uint32(b[8:])
	le.PutUint32(b[8:], 0)
	if crc32c.Sum(b) != sum {
		return c.fail(ErrCorrupt)
	}
	c.rseq++
	c.rest = b[headSize:]
	c.watch.Reset(c.silence)
	return nil
}

// fail ends the connection and returns the first error that did.
func (c *Conn) fail(err error) error {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	err = c.err
	c.mu.Unlock()
	c.shut()
	return err
}

func (c *Conn) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *Conn) shut() {
	c.once.Do(func() {
		close(c.closed)
		c.watch.Stop()
		c.out.Close()
		c.in.Close()
		if c.onClose != nil {
			c.onClose()
		}
	})
}

// Close implements io.Closer.
func (c *Conn) Close() error {
	c.fail(net.ErrClosed)
	c.wg.Wait()
	return nil
}

// LocalAddr names the stream. Together with RemoteAddr and the deadlines it makes Conn
// a net.Conn for the handshake, which the caller ends by closing.
func (c *Conn) LocalAddr() net.Addr { return addr(c.name) }

// RemoteAddr names the stream.
func (c *Conn) RemoteAddr() net.Addr { return addr(c.name) }

// SetDeadline does nothing: close the connection instead.
func (c *Conn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing.
func (c *Conn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

type addr string

func (a addr) Network() string { return "usb4stream" }
func (a addr) String() string  { return fmt.Sprintf("stream %s", string(a)) }
