package tcp_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"thundercollective/fabric"
	"thundercollective/fabric/fabrictest"
	"thundercollective/internal/faultproxy"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/rendezvous/handshake"
)

func TestConformanceWithChecksums(t *testing.T) {
	fabrictest.Run(t, fabrictest.Harness{
		New: func(t testing.TB, n int) []fabric.Fabric {
			return ranks(t, n, "127.0.0.1", tcp.Config{Token: []byte("secret"), Streams: 3, Checksum: true})
		},
		Kill:  func(f fabric.Fabric) { f.(*tcp.Fabric).Kill() },
		Large: 16 << 20,
	})
}

// TestChecksumsDisagree has one rank with checksums and one without, either way round.
func TestChecksumsDisagree(t *testing.T) {
	for _, acceptor := range []bool{false, true} {
		lns, peers := listeners(t, 2)
		newFabric(t, lns[0], tcp.Config{Rank: 0, Peers: peers, Checksum: acceptor})
		f1 := newFabric(t, lns[1], tcp.Config{Rank: 1, Peers: peers, Checksum: !acceptor})
		_, err := f1.Link(t.Context(), 0, 1)
		with, without := 1, 0
		if acceptor {
			with, without = without, with
		}
		_, rejected := errors.AsType[*handshake.RejectedError](err)
		if want := fmt.Sprintf("rank %d was started with checksums, rank %d without", with, without); !rejected || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestDamage has a byte change on the way, in headers and in payloads, small, long
// and striped. The receiver always notices, and says whose it was.
func TestDamage(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    int
		at   int // of the damaged byte in what goes over a stream
		sums bool
		what string
	}{
		{"tag without checksums", 8, 5, false, "header"},
		{"length without checksums", 8, 33, false, "header"},
		{"tag", 8, 5, true, "header"},
		{"sum", 8, 41, true, "payload"},
		{"payload", 8, 50, true, "payload"},
		{"long payload", 400_000, 48 + 300_000, true, "payload"},
		{"striped payload", 2 * tcp.StripeMin, 1000, true, "payload"},
	} {
		for _, pieces := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,pieces=%v", tt.name, pieces), func(t *testing.T) {
				lns, peers := listeners(t, 2)
				proxy, err := faultproxy.New(peers[0][0])
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(proxy.Close)
				f0 := newFabric(t, lns[0], tcp.Config{Rank: 0, Peers: peers, Streams: 2, Checksum: tt.sums})
				f1 := newFabric(t, lns[1], tcp.Config{Rank: 1, Peers: [][]string{{proxy.Addr()}, peers[1]}, Streams: 2, Checksum: tt.sums})
				a, b := connect(t, f0, f1, 1)
				tag := &fabric.Tag{1}
				proxy.Set(faultproxy.There, faultproxy.Fault{Corrupt: true, CorruptAfter: tt.at})
				sent := make(chan error, 1)
				go func() { sent <- fabric.Send(t.Context(), b, tag, bytes.Repeat([]byte{7}, tt.n)) }()
				if pieces {
					err = a.RecvFunc(t.Context(), tag, tt.n, func(int, []byte) error { return nil })
				} else {
					err = a.Recv(t.Context(), tag, make([]byte, tt.n))
				}
				lost, isLost := errors.AsType[*fabric.LostError](err)
				corrupt, isCorrupt := errors.AsType[*fabric.CorruptError](err)
				if !isLost || !isCorrupt || lost.Peer != 1 || corrupt.What != tt.what {
					t.Errorf("got %v, want rank 1's %s damaged", err, tt.what)
				}
				a.Close()
				<-sent
			})
		}
	}
}

// TestChecksumAllocations checks that checksums cost no memory.
func TestChecksumAllocations(t *testing.T) {
	fs := ranks(t, 2, "127.0.0.1", tcp.Config{Streams: 2, Checksum: true})
	defer fs[0].Close()
	defer fs[1].Close()
	a, b := connect(t, fs[0], fs[1], 1)
	for _, n := range []int{8, 100_000, 2 * tcp.StripeMin} {
		out, in := make([]byte, n), make([]byte, n)
		tag := &fabric.Tag{1}
		next, sent := make(chan bool), make(chan error)
		go func() {
			for range next {
				sent <- fabric.Send(t.Context(), a, tag, out)
			}
		}()
		ctx := t.Context()
		allocs := testing.AllocsPerRun(50, func() {
			next <- true
			if err := errors.Join(b.Recv(ctx, tag, in), <-sent); err != nil {
				t.Fatal(err)
			}
		})
		close(next)
		if allocs > 0 {
			t.Errorf("%d bytes: %v allocations", n, allocs)
		}
	}
}
