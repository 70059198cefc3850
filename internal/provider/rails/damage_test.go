package rails_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/provider/mem"
	"thundercollective/internal/provider/rails"
)

// A wire is a rail of pipes between two ranks, on which a byte can be damaged.
type wire struct {
	mu      sync.Mutex
	waiting map[int]chan net.Conn // by stream
	// The next write of at least so many bytes, by rank 0, is damaged; none if 0.
	damage atomic.Int64
}

// rail is one end of the wire.
func (w *wire) rail(name string, rank int) rails.Rail {
	return rails.Rail{Near: fmt.Sprint(name, rank), Far: fmt.Sprint(name, 1-rank), BothOpen: true,
		Open: func(ctx context.Context, _ fabric.Channel, stream, _ int) (rails.Conn, error) {
			w.mu.Lock()
			if w.waiting == nil {
				w.waiting = map[int]chan net.Conn{}
			}
			if w.waiting[stream] == nil {
				w.waiting[stream] = make(chan net.Conn)
			}
			meet := w.waiting[stream]
			w.mu.Unlock()
			if rank == 0 {
				select {
				case c := <-meet:
					return &damaging{c, w}, nil
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			}
			mine, theirs := net.Pipe()
			select {
			case meet <- theirs:
				return mine, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}}
}

// damaging is an end of a wire at which bytes are damaged on their way out.
type damaging struct {
	net.Conn
	w *wire
}

func (d *damaging) Write(p []byte) (int, error) {
	if least := d.w.damage.Load(); least > 0 && int64(len(p)) >= least && d.w.damage.CompareAndSwap(least, 0) {
		p = append([]byte(nil), p...)
		p[len(p)/2] ^= 4
	}
	return d.Conn.Write(p)
}

// wired starts two ranks with two wires between them; sums tells for each rank whether
// payloads carry checksums.
func wired(t *testing.T, log *slog.Logger, sums [2]bool) (fs []fabric.Fabric, wires [2]*wire) {
	t.Helper()
	wires = [2]*wire{{}, {}}
	bases, err := mem.New(2)
	if err != nil {
		t.Fatal(err)
	}
	for r, base := range bases {
		list := make([][]rails.Rail, 2)
		for i, w := range wires {
			list[1-r] = append(list[1-r], w.rail(string(rune('a'+i)), r))
		}
		f, err := rails.New(rails.Config{Base: base, Rails: list, Streams: 1, Checksum: sums[r], Logger: log})
		if err != nil {
			t.Fatal(err)
		}
		fs = append(fs, f)
	}
	return fs, wires
}

// TestDamage changes a byte on either rail: of headers, and with checksums of payloads.
// The message arrives as it was sent.
func TestDamage(t *testing.T) {
	const size = 1 << 20
	for _, tt := range []struct {
		what  string
		sums  bool
		least int64 // the length of writes that have it
	}{
		{"header", false, 1}, {"header", true, 1}, {"payload", true, 4096},
	} {
		t.Run(fmt.Sprint(tt.what, " ", tt.sums), func(t *testing.T) {
			var log lines
			fs, wires := wired(t, slog.New(slog.NewTextHandler(&log, nil)), [2]bool{tt.sums, tt.sums})
			a, b := join(t, fs, 1)
			data, got := make([]byte, size), make([]byte, size)
			round := 0
			pass := func() {
				t.Helper()
				round++
				for i := range data {
					data[i] = byte(i + round)
				}
				sent := make(chan error, 1)
				go func() { sent <- fabric.Send(t.Context(), a, &fabric.Tag{byte(round)}, data) }()
				if err := b.Recv(t.Context(), &fabric.Tag{byte(round)}, got); err != nil {
					t.Fatalf("message %d: %v", round, err)
				}
				if err := <-sent; err != nil {
					t.Fatalf("message %d: %v", round, err)
				}
				for i := range got {
					if got[i] != byte(i+round) {
						t.Fatalf("message %d: byte %d is wrong", round, i)
					}
				}
				clear(got)
			}
			for _, w := range wires {
				waitUp(t, fs) // the damage must not find the other rail away
				w.damage.Store(tt.least)
				for w.damage.Load() != 0 {
					pass()
				}
			}
			waitUp(t, fs)
			pass()
			if n := log.count(tt.what + " was damaged on the way"); n != len(wires) {
				t.Errorf("damage was noticed %d times", n)
			}
			closeAll(t, fs)
		})
	}
}

// TestChecksumsDisagree: ranks of which one wants checksums say so.
func TestChecksumsDisagree(t *testing.T) {
	fs, _ := wired(t, nil, [2]bool{true, false})
	errs := make(chan error)
	for r, f := range fs {
		go func() {
			_, err := f.Link(t.Context(), 1-r, 1)
			errs <- err
		}()
	}
	for range fs {
		var pair *rails.PairError
		if err := <-errs; !errors.As(err, &pair) || !strings.Contains(err.Error(), "rank 0 was started with checksums, rank 1 without") {
			t.Errorf("got %v, want a PairError about checksums", err)
		}
	}
	closeAll(t, fs)
}
