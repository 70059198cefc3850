package stream

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"path"
	"strconv"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rails"
	"thundercollective/internal/rendezvous/handshake"
)

// A Config describes a cable that carries USB4 streams.
type Config struct {
	// Service is the peer's service in the Thunderbolt domain, as in "0-1.3".
	Service string
	// Near and Far name this end and the other.
	Near, Far string
	// First is true at exactly one end: the one that dials, which is the higher
	// rank.
	First bool
	// Hello identifies the dialler, and Token authenticates both ends.
	Hello handshake.Hello
	Token []byte
	// Silence is how long a cable may deliver nothing before it counts as lost; 2 s
	// if 0.
	Silence time.Duration
	// System creates the streams; that of this machine if nil.
	System System
}

// Rail returns the rail over a cable. It has one stream in each link, which takes two
// USB4 streams: the driver has few.
func Rail(cfg Config) rails.Rail {
	if cfg.Silence == 0 {
		cfg.Silence = 2 * time.Second
	}
	if cfg.System == nil {
		cfg.System = linux{}
	}
	return rails.Rail{
		Near: cfg.Near, Far: cfg.Far, Device: "usb4 " + cfg.Service, BothOpen: true, Streams: 1,
		Open: func(ctx context.Context, ch fabric.Channel, stream, streams int) (rails.Conn, error) {
			c, err := open(ctx, &cfg, ch, stream)
			if err != nil {
				return nil, err
			}
			if err := cfg.authenticate(ctx, c, ch, stream, streams); err != nil {
				c.Close()
				return nil, err
			}
			return c, nil
		},
	}
}

// names returns the names of the two USB4 streams of a connection: the one that the
// first end writes to, and the one it reads from. They are unique among the ranks of a
// machine, which may share a cable, and differ from what an earlier job left behind.
func (cfg *Config) names(ch fabric.Channel, stream int) (up, down string) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%d/%d/%d/%d", cfg.Hello.Generation, cfg.Hello.From, cfg.Hello.To, ch, stream)
	n := strconv.FormatUint(h.Sum64()%(36*36*36*36*36*36*36), 36)
	return "u" + n, "d" + n
}

// open creates both USB4 streams of a connection and waits for the other end. Both are
// created before either is opened, since an end can open only what the other has
// created.
func open(ctx context.Context, cfg *Config, ch fabric.Channel, stream int) (*Conn, error) {
	outName, inName := cfg.names(ch, stream)
	if !cfg.First {
		outName, inName = inName, outName
	}
	var undo []func()
	cleanup := func() {
		for i := range undo {
			undo[len(undo)-1-i]()
		}
	}
	var ends [2]*endpoint
	var devices [2]Device
	for i, name := range []string{outName, inName} {
		e, err := makeEndpoint(cfg.System, cfg.Service, name)
		if err != nil {
			cleanup()
			return nil, err
		}
		ends[i], undo = e, append(undo, e.remove)
	}
	for i, e := range ends {
		d, err := e.open(ctx)
		if err != nil {
			cleanup()
			return nil, err
		}
		devices[i], undo = d, append(undo, func() { d.Close() })
	}
	out, in := devices[0], devices[1]
	if err := meet(ctx, in, out, cfg.First); err != nil {
		cleanup()
		return nil, fmt.Errorf("stream: %s: waiting for the other end: %w", cfg.Service, err)
	}
	return newConn(in, out, path.Join(cfg.Service, outName), cfg.Silence, func() {
		ends[0].remove()
		ends[1].remove()
	}), nil
}

// Greetings of one frame each.
var (
	hello  = frame("thunder stream hello")
	answer = frame("thunder stream ready")
)

func frame(text string) []byte {
	b := make([]byte, frameSize)
	copy(b, text)
	return b
}

// meet waits until both ends read: what is written before the other end has opened the
// stream may be lost, but nothing is after it has answered. The first end repeats its
// hello until it is answered, and then sends ready; the second answers the first hello
// it receives and skips further ones until ready.
func meet(ctx context.Context, in, out Device, first bool) error {
	stop := context.AfterFunc(ctx, func() { in.Close(); out.Close() })
	heard := make(chan error, 1)
	go func() {
		buf := make([]byte, frameSize)
		for answered := false; ; {
			if _, err := io.ReadFull(in, buf); err != nil {
				heard <- err
				return
			}
			switch {
			case bytes.Equal(buf, answer):
				heard <- nil
				return
			case !first && bytes.Equal(buf, hello):
				if answered {
					continue
				}
				answered = true
				if err := writeFrame(out, answer); err != nil {
					heard <- err
					return
				}
			default:
				heard <- ErrCorrupt
				return
			}
		}
	}()
	var err error
	for done := false; !done; {
		if first {
			if err = writeFrame(out, hello); err != nil {
				break
			}
		}
		select {
		case err = <-heard:
			done = true
		case <-time.After(retryOpen):
		}
	}
	if err == nil && first {
		err = writeFrame(out, answer)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	return err
}

func writeFrame(w io.Writer, b []byte) error {
	for len(b) > 0 {
		n, err := w.Write(b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// authenticate authenticates both ends to each other, as on a TCP connection.
func (cfg *Config) authenticate(ctx context.Context, c *Conn, ch fabric.Channel, stream, streams int) error {
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	want := cfg.Hello
	want.Purpose, want.Channel = handshake.PurposeRail, uint32(ch)
	want.Stream, want.Streams = uint16(stream), uint8(streams)
	if cfg.First {
		return handshake.Dial(c, want, cfg.Token)
	}
	_, err := handshake.Accept(c, cfg.Token, func(h handshake.Hello) error {
		if h != want {
			return &handshake.RejectedError{Code: handshake.Other, Text: fmt.Sprintf("%s leads to another rank or job", cfg.Service)}
		}
		return nil
	})
	return err
}
