package rails_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rails"
	"thundercollective/internal/provider/tcp"
)

// lines is where a logger's lines go.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// TestFailover cuts one rail after the other while messages pass in both
// directions; every byte arrives, and the rails come back.
func TestFailover(t *testing.T) {
	var log lines
	// On a busy machine rails must not be lost for another reason than the cut.
	fs := ranks(t, 2, 2, rails.Config{Stall: never, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	a, b := join(t, fs, 1)
	const rounds, size = 60, 1 << 20
	var wg sync.WaitGroup
	for dir, way := range [][2]fabric.Link{{a, b}, {b, a}} {
		wg.Go(func() {
			buf := make([]byte, size)
			for i := range rounds {
				for k := range buf {
					buf[k] = byte(i + k)
				}
				if err := fabric.Send(t.Context(), way[0], &fabric.Tag{byte(i)}, buf); err != nil {
					t.Errorf("send %d: %v", i, err)
					return
				}
			}
		})
		wg.Go(func() {
			buf := make([]byte, size)
			for i := range rounds {
				if end := i / 10 % 2; dir == 0 && i%10 == 5 && (i == 5 || allUp(fs)) {
					fs[end].(*rails.Fabric).Cut(1-end, end)
				}
				if err := way[1].Recv(t.Context(), &fabric.Tag{byte(i)}, buf); err != nil {
					t.Errorf("receive %d: %v", i, err)
					return
				}
				for k := range buf {
					if buf[k] != byte(i+k) {
						t.Errorf("message %d: byte %d is wrong", i, k)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	waitUp(t, fs)
	n := 0
	for _, f := range fs {
		for _, r := range f.(*rails.Fabric).Rails() {
			n += r.Failovers
			if r.Sent == 0 {
				t.Errorf("nothing was sent on %s - %s", r.Near, r.Far)
			}
		}
	}
	if n == 0 {
		t.Error("no failover was counted")
	}
	if got := log.count("rail lost"); got > n {
		t.Errorf("%d lines about %d failovers", got, n)
	}
	closeAll(t, fs)
}

// TestLastRail loses a peer with its last rail, not before.
func TestLastRail(t *testing.T) {
	fs := ranks(t, 2, 2, rails.Config{})
	a, _ := join(t, fs, 1)
	fs[1].(*rails.Fabric).Kill()
	err := a.Recv(t.Context(), &fabric.Tag{}, make([]byte, 8))
	var lost *fabric.LostError
	if !errors.As(err, &lost) || lost.Peer != 1 || !strings.Contains(lost.Addr, "127.0.1.2") {
		t.Errorf("got %v, want the loss of rank 1 with its addresses", err)
	}
	fs[0].Close()
}

// TestDisagreement: one end pairs its rails crosswise. Both ends say so, with hosts
// and addresses, before a message passes.
func TestDisagreement(t *testing.T) {
	ifs, err := tcp.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	at := [][]string{{"127.0.0.1:0", "127.0.1.1:0"}, {"127.0.0.2:0", "127.0.1.2:0"}}
	var lns []*tcp.Listener
	var peers [][]string
	for _, addrs := range at {
		ln, err := tcp.Listen(addrs...)
		if err != nil {
			t.Fatal(err)
		}
		lns, peers = append(lns, ln), append(peers, ln.Addrs())
	}
	var fs []fabric.Fabric
	differs := make(chan error, 10)
	for r := range 2 {
		own, err := tcp.FindRails(peers[r], ifs)
		if err != nil {
			t.Fatal(err)
		}
		paths := make([][]tcp.Path, 2)
		paths[1-r] = tcp.Pair(own, peers[1-r], nil)
		if r == 1 {
			p := paths[0]
			p[0].Remote, p[1].Remote = p[1].Remote, p[0].Remote
		}
		tc := tcp.Config{Rank: r, Peers: peers, Paths: paths, OnDiffer: func(peer int, err error) {
			differs <- fmt.Errorf("rank %d differs: %w", peer, err)
		}}
		f, err := rails.OverTCP(lns[r], tc, rails.Config{Hosts: []string{"anna", "bert"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		fs = append(fs, f)
	}
	_, err = fs[1].Link(t.Context(), 0, 1)
	// Rank 0, which accepts the connection, learns of it as well.
	for _, err := range []error{err, <-differs} {
		var pair *rails.PairError
		if !errors.As(err, &pair) {
			t.Fatalf("got %v, want a PairError", err)
		}
		for _, want := range []string{"anna", "bert", "127.0."} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not name %s", err, want)
			}
		}
	}
	closeAll(t, fs)
}

func join(t *testing.T, fs []fabric.Fabric, ch fabric.Channel) (a, b fabric.Link) {
	t.Helper()
	var wg sync.WaitGroup
	var errs [2]error
	wg.Go(func() { a, errs[0] = fs[0].Link(context.Background(), 1, ch) })
	wg.Go(func() { b, errs[1] = fs[1].Link(context.Background(), 0, ch) })
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return a, b
}

// allUp reports whether every rail of every rank carries messages.
func allUp(fs []fabric.Fabric) bool {
	for _, f := range fs {
		for _, r := range f.(*rails.Fabric).Rails() {
			if !r.Up {
				return false
			}
		}
	}
	return true
}

// waitUp waits until all rails are up.
func waitUp(t *testing.T, fs []fabric.Fabric) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !allUp(fs); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("a rail did not come back: %+v", fs[0].(*rails.Fabric).Rails())
		}
	}
}

func closeAll(t *testing.T, fs []fabric.Fabric) {
	t.Helper()
	var wg sync.WaitGroup
	for _, f := range fs {
		wg.Go(func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
