package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"thundercollective/fabric"
	"thundercollective/fabric/rails"
	"thundercollective/rendezvous/handshake"
)

// A Config describes a cable that carries streams.
type Config struct {
	// Service is the peer's service in the Thunderbolt domain, as in "0-1.3".
	Service string
	// Near and Far name both ends, the other way round at the other end.
	Near, Far string
	// First says which end this is; the other says the opposite. It is the one
	// that dials, so the higher rank.
	First bool
	// Hello introduces the dialler, and Token proves both ends.
	Hello handshake.Hello
	Token []byte
	// Silence is how long a cable may say nothing; 2 s if 0.
	Silence time.Duration
	// Configfs and Dev are where the system has them; the usual places if empty.
	Configfs, Dev string
	// OpenDevice opens a device; os.OpenFile if nil.
	OpenDevice func(path string) (Device, error)
}

// Rail makes the rail.
func Rail(cfg Config) rails.Rail {
	if cfg.Silence == 0 {
		cfg.Silence = 2 * time.Second
	}
	if cfg.Configfs == "" {
		cfg.Configfs = DefaultConfigfs
	}
	if cfg.Dev == "" {
		cfg.Dev = DefaultDev
	}
	if cfg.OpenDevice == nil {
		cfg.OpenDevice = openDevice
	}
	return rails.Rail{
		Near: cfg.Near, Far: cfg.Far, Device: "usb4 " + cfg.Service, Meet: true,
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

// openDevice opens one end of a stream. It does not wait for the other.
func openDevice(path string) (Device, error) {
	return os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
}

// names returns those of the two streams of a conversation: what the first end writes
// to, and what it reads from.
func names(ch fabric.Channel, stream int) (up, down string) {
	h := fnv.New32a()
	fmt.Fprintf(h, "%d/%d", ch, stream)
	n := h.Sum32() & 0xffffff
	return fmt.Sprintf("t%06xu", n), fmt.Sprintf("t%06xd", n)
}

const retryOpen = 20 * time.Millisecond

// open makes both streams of a conversation and waits for the other end.
func open(ctx context.Context, cfg *Config, ch fabric.Channel, stream int) (*Conn, error) {
	outName, inName := names(ch, stream)
	if !cfg.First {
		outName, inName = inName, outName
	}
	out, outEnd, err := openOne(ctx, cfg, outName)
	if err != nil {
		return nil, err
	}
	in, inEnd, err := openOne(ctx, cfg, inName)
	if err != nil {
		out.Close()
		outEnd.remove()
		return nil, err
	}
	if err := meet(ctx, in, out, cfg.First); err != nil {
		out.Close()
		in.Close()
		outEnd.remove()
		inEnd.remove()
		return nil, fmt.Errorf("stream: %s: waiting for the other end: %w", cfg.Service, err)
	}
	return newConn(in, out, filepath.Join(cfg.Service, outName), cfg.Silence, func() {
		outEnd.remove()
		inEnd.remove()
	}), nil
}

// openOne makes a stream and opens its device, which needs the peer to have made
// its end (ENXIO before that).
func openOne(ctx context.Context, cfg *Config, name string) (Device, *endpoint, error) {
	e, err := makeEndpoint(cfg.Configfs, cfg.Dev, cfg.Service, name)
	if err != nil {
		return nil, nil, err
	}
	for since := time.Now(); ; {
		d, err := cfg.OpenDevice(e.device)
		switch {
		case err == nil:
			return d, e, nil
		case errors.Is(err, syscall.ENXIO), errors.Is(err, os.ErrNotExist) && time.Since(since) < deviceTime:
		default:
			e.remove()
			return nil, nil, fmt.Errorf("stream: opening %s: %w", e.device, err)
		}
		select {
		case <-time.After(retryOpen):
		case <-ctx.Done():
			e.remove()
			return nil, nil, fmt.Errorf("stream: opening %s: %w", e.device, context.Cause(ctx))
		}
	}
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

// meet waits until both ends read: what is written before the other has opened the
// stream may be lost, but what comes after hearing of it is not. The first end
// repeats its hello until it is answered, and then says that it is ready; the second
// answers the first hello it hears, and skips the others until then.
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

// authenticate proves both ends to each other, as on a TCP connection.
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
			return &handshake.RejectedError{Code: handshake.Other, Text: fmt.Sprintf("%s joins another rank or job", cfg.Service)}
		}
		return nil
	})
	return err
}
