package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Preamble is the first thing an agent sends. It contains a NUL so that it does not occur
// in the output of a shell.
const Preamble = "\x00thunder launch-agent\n"

// maxFrame limits the payload of a frame, maxNoise what may precede the preamble.
const (
	maxFrame = 16 << 20
	maxNoise = 1 << 20
)

// headerSize is the length of the type, the rank and the length of the payload.
const headerSize = 9

// A Kind is the type of a frame.
type Kind byte

// The types of frames. Those with a message carry it as JSON.
const (
	KindHello      Kind = 'H' // Hello
	KindPrepare    Kind = 'P' // Prepare
	KindCopy       Kind = 'c' // a piece of a tar stream
	KindCopyEnd    Kind = 'C'
	KindReady      Kind = 'R' // Ready
	KindFailed     Kind = 'F' // Failed
	KindStart      Kind = 'S' // Start
	KindStarted    Kind = 's' // Started, of a rank
	KindStdout     Kind = 'o' // whole lines of a rank
	KindStderr     Kind = 'e' // whole lines of a rank
	KindStdin      Kind = 'i' // bytes for a rank
	KindStdinEnd   Kind = 'I' // no more of them
	KindStdinTaken Kind = 't' // Taken, by a rank
	KindExited     Kind = 'x' // Exited, of a rank
	KindTerminate  Kind = 'T'
	KindKill       Kind = 'K'
	KindFinished   Kind = 'D' // Failed; an empty one for success
	KindNext       Kind = 'N' // asked by the launcher; Next is the answer
	KindReforming  Kind = 'r' // Reforming, of a rank
	KindPing       Kind = 'p'
)

// A Frame is one message. Data is valid until the next call of Next.
type Frame struct {
	Kind Kind
	Rank int // for frames about a rank
	Data []byte
}

// Decode decodes the frame's message into v.
func (f Frame) Decode(v any) error {
	if err := json.Unmarshal(f.Data, v); err != nil {
		return fmt.Errorf("frame %q: %w", f.Kind, err)
	}
	return nil
}

// A Conn sends and receives frames. Any number of goroutines may send; one may
// receive.
type Conn struct {
	r   *bufio.Reader
	buf []byte

	mu  sync.Mutex
	w   io.Writer
	out []byte
}

// NewConn returns a Conn over two streams. It does not close them.
func NewConn(r io.Reader, w io.Writer) *Conn {
	return &Conn{r: bufio.NewReaderSize(r, 64<<10), w: w}
}

// Greet sends the preamble.
func (c *Conn) Greet() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := io.WriteString(c.w, Preamble)
	return err
}

// ErrNoPreamble reports that the other side is not an agent.
var ErrNoPreamble = errors.New("no greeting from an agent")

// AwaitGreeting skips everything up to and including the preamble, and returns the last
// bytes of what it skipped, where the error message of a shell would be.
func (c *Conn) AwaitGreeting() (skipped []byte, err error) {
	const keep = 4 << 10
	for total := 0; total < maxNoise; {
		chunk, err := c.r.ReadSlice('\n')
		total += len(chunk)
		skipped = append(skipped, chunk...)
		if bytes.HasSuffix(skipped, []byte(Preamble)) {
			return bytes.TrimSuffix(skipped, []byte(Preamble)), nil
		}
		if n := len(skipped); n > keep {
			skipped = skipped[n-keep:]
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return skipped, fmt.Errorf("%w: %w", ErrNoPreamble, err)
		}
	}
	return skipped, ErrNoPreamble
}

// Send sends a frame with a message, or without one if v is nil.
func (c *Conn) Send(kind Kind, rank int, v any) error {
	var data []byte
	if v != nil {
		var err error
		if data, err = json.Marshal(v); err != nil {
			return fmt.Errorf("frame %q: %w", kind, err)
		}
	}
	return c.SendData(kind, rank, data)
}

// SendData sends a frame with raw bytes.
func (c *Conn) SendData(kind Kind, rank int, data []byte) error {
	if len(data) > maxFrame {
		return fmt.Errorf("frame %q of %d bytes is longer than %d", kind, len(data), maxFrame)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// One write, so that a frame is not interleaved with another.
	c.out = append(c.out[:0], byte(kind))
	c.out = binary.BigEndian.AppendUint32(c.out, uint32(rank))
	c.out = binary.BigEndian.AppendUint32(c.out, uint32(len(data)))
	c.out = append(c.out, data...)
	_, err := c.w.Write(c.out)
	return err
}

// Next receives a frame. It returns io.EOF if the other side is gone.
func (c *Conn) Next() (Frame, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(c.r, h[:]); err != nil {
		return Frame{}, gone(err)
	}
	n := binary.BigEndian.Uint32(h[5:])
	if n > maxFrame {
		return Frame{}, fmt.Errorf("frame %q has a length of %d bytes, more than %d", h[0], n, maxFrame)
	}
	if cap(c.buf) < int(n) {
		c.buf = make([]byte, n)
	}
	data := c.buf[:n]
	if _, err := io.ReadFull(c.r, data); err != nil {
		return Frame{}, gone(err)
	}
	return Frame{Kind: Kind(h[0]), Rank: int(binary.BigEndian.Uint32(h[1:])), Data: data}, nil
}

// gone treats a stream that ends inside a frame like one that ends between frames: a
// process may be killed at any time.
func gone(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}
