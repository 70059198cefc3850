package stream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"thundercollective/internal/provider/rails"
	"thundercollective/internal/provider/stream"
	"thundercollective/internal/provider/stream/streamtest"
	"thundercollective/internal/rendezvous/handshake"
)

const service = "0-1.3"

// newCable joins two machines.
func newCable() (c *streamtest.Cable, ms [2]*streamtest.Machine) {
	ms = [2]*streamtest.Machine{streamtest.NewMachine(), streamtest.NewMachine()}
	return streamtest.Join(ms[0], service, ms[1], service), ms
}

// join opens both ends of a conversation over a cable.
func join(t *testing.T, ms [2]*streamtest.Machine, tokens [2]string) (conns [2]rails.Conn, errs [2]error) {
	t.Helper()
	var wg sync.WaitGroup
	for side := range 2 {
		r := stream.Rail(stream.Config{
			Service: service, First: side == 1, Silence: 5 * time.Second,
			Hello: handshake.Hello{From: 1, To: 0, Size: 2}, Token: []byte(tokens[side]), System: ms[side],
		})
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			conns[side], errs[side] = r.Open(ctx, 7, 0, 2)
		})
	}
	wg.Wait()
	return conns, errs
}

func mustJoin(t *testing.T, ms [2]*streamtest.Machine) [2]rails.Conn {
	t.Helper()
	conns, errs := join(t, ms, [2]string{"secret", "secret"})
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conns[0].Close(); conns[1].Close() })
	return conns
}

// TestTransfer moves megabytes both ways at once through short writes.
func TestTransfer(t *testing.T) {
	_, ms := newCable()
	conns := mustJoin(t, ms)
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
		do   func(c *streamtest.Cable, peer rails.Conn)
		want error
	}{
		{"bit error", func(c *streamtest.Cable, peer rails.Conn) {
			c.Corrupt(1)
			peer.Write(make([]byte, 100))
		}, stream.ErrCorrupt},
		{"unplugged", func(c *streamtest.Cable, _ rails.Conn) { c.Unplug() }, syscall.ENXIO},
		{"closed", func(_ *streamtest.Cable, peer rails.Conn) { peer.Close() }, io.EOF},
		{"silent", func(_ *streamtest.Cable, peer rails.Conn) {
			peer.(*stream.Conn).Hang()
		}, stream.ErrSilent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, ms := newCable()
			conns := mustJoin(t, ms)
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
	_, ms := newCable()
	_, errs := join(t, ms, [2]string{"one", "other"})
	var auth *handshake.AuthError
	if !errors.As(errs[0], &auth) && !errors.As(errs[1], &auth) {
		t.Errorf("got %v, want an AuthError", errs)
	}
}

// TestLeftBehind: nothing stays in configfs.
func TestLeftBehind(t *testing.T) {
	_, ms := newCable()
	conns := mustJoin(t, ms)
	conns[0].Close()
	conns[1].Close()
	if left := append(ms[0].Left(), ms[1].Left()...); len(left) > 0 {
		t.Errorf("left in configfs: %q", left)
	}
}

// TestCannotOpen: what is missing is named with its path, and what to do about it.
func TestCannotOpen(t *testing.T) {
	for _, tt := range []struct {
		name    string
		service string
		do      func(m *streamtest.Machine)
		want    []string
	}{
		{"no driver", service, (*streamtest.Machine).Unload, []string{"/sys/kernel/config/thunderbolt/stream/0-1.3", "no such file", "modprobe thunderbolt_stream"}},
		{"no cable", "0-5.1", func(*streamtest.Machine) {}, []string{"/sys/kernel/config/thunderbolt/stream/0-5.1", "plugged in"}},
		{"nobody there", service, func(*streamtest.Machine) {}, []string{"stream/0-1.3/", "/dev/tbstream0", "other end", "deadline"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, ms := newCable()
			tt.do(ms[0])
			r := stream.Rail(stream.Config{Service: tt.service, System: ms[0]})
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err := r.Open(ctx, 7, 0, 2)
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q in it", err, want)
				}
			}
		})
	}
}
