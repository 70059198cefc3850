package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"thundercollective/fabric/rails"
	"thundercollective/rendezvous/handshake"
)

// join opens both ends of a conversation over a cable.
func join(t *testing.T, c *cable, tokens [2]string) (conns [2]rails.Conn, errs [2]error) {
	t.Helper()
	const service = "0-1.3"
	up, down := names(7, 0)
	var wg sync.WaitGroup
	for side := range 2 {
		c.populate(t, side, service, up, down)
		r := Rail(Config{
			Service: service, First: side == 1, Configfs: c.dirs[side], Silence: time.Second,
			Hello: handshake.Hello{From: 1, To: 0, Size: 2}, Token: []byte(tokens[side]),
			OpenDevice: c.opener(side),
		})
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			conns[side], errs[side] = r.Open(ctx, 7, 0, 2)
		})
	}
	wg.Wait()
	return conns, errs
}

func mustJoin(t *testing.T, c *cable) [2]rails.Conn {
	t.Helper()
	conns, errs := join(t, c, [2]string{"secret", "secret"})
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conns[0].Close(); conns[1].Close() })
	return conns
}

// TestTransfer moves megabytes both ways at once through short writes.
func TestTransfer(t *testing.T) {
	conns := mustJoin(t, newCable(t))
	data := make([]byte, 3<<20+17)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	var wg sync.WaitGroup
	for side := range 2 {
		wg.Go(func() {
			if _, err := conns[side].Write(data); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			got := make([]byte, len(data))
			if _, err := io.ReadFull(conns[side], got); err != nil || !bytes.Equal(got, data) {
				t.Errorf("end %d: %v, equal %v", side, err, bytes.Equal(got, data))
			}
		})
	}
	wg.Wait()
}

// TestFaults: whatever happens to the cable ends the connection with the reason.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(c *cable, peer rails.Conn)
		want error
	}{
		{"bit error", func(c *cable, peer rails.Conn) {
			c.mu.Lock()
			c.corrupt = 1
			c.mu.Unlock()
			peer.Write(make([]byte, 100))
		}, ErrCorrupt},
		{"unplugged", func(c *cable, _ rails.Conn) { c.unplug() }, syscall.ENXIO},
		{"closed", func(_ *cable, peer rails.Conn) { peer.Close() }, io.EOF},
		{"silent", func(_ *cable, peer rails.Conn) {
			p := peer.(*Conn)
			p.writing.Lock() // holds its heartbeats back
			time.AfterFunc(3*time.Second, p.writing.Unlock)
		}, ErrSilent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCable(t)
			conns := mustJoin(t, c)
			go io.Copy(io.Discard, conns[1]) // an end that does not read hears nothing
			tt.do(c, conns[1])
			_, err := conns[0].Read(make([]byte, 100))
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if _, again := conns[0].Read(make([]byte, 1)); again == nil {
				t.Error("reads on after the end")
			}
		})
	}
}

func TestWrongToken(t *testing.T) {
	_, errs := join(t, newCable(t), [2]string{"one", "other"})
	var auth *handshake.AuthError
	if !errors.As(errs[0], &auth) && !errors.As(errs[1], &auth) {
		t.Errorf("got %v, want an AuthError", errs)
	}
}

func TestNobodyThere(t *testing.T) {
	c := newCable(t)
	up, down := names(7, 0)
	c.populate(t, 0, "0-1.3", up, down)
	r := Rail(Config{Service: "0-1.3", Configfs: c.dirs[0], OpenDevice: c.opener(0)})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.Open(ctx, 7, 0, 2); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
