package rails_test

import (
	"fmt"
	"testing"

	"thundercollective/fabric"
	"thundercollective/fabric/fabrictest"
	"thundercollective/internal/provider/rails"
	"thundercollective/internal/provider/tcp"
)

// ranks starts n ranks with k rails each on loopback: rank r has 127.0.i.r+1 on
// rail i. The lists are in different orders, which must not matter.
func ranks(t testing.TB, n, k int, cfg rails.Config) []fabric.Fabric {
	t.Helper()
	return mixedRanks(t, n, k, cfg, func(int) func(int) []rails.Rail { return nil })
}

// mixedRanks is ranks, with more rails to each peer: extra is asked by rank and by peer.
func mixedRanks(t testing.TB, n, k int, cfg rails.Config, extra func(rank int) func(peer int) []rails.Rail) []fabric.Fabric {
	t.Helper()
	ifs, err := tcp.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	lns := make([]*tcp.Listener, n)
	var peers [][]string
	for r := range lns {
		var at []string
		for i := range k {
			at = append(at, fmt.Sprintf("127.0.%d.%d:0", (i+r)%k, r+1))
		}
		if lns[r], err = tcp.Listen(at...); err != nil {
			t.Fatal(err)
		}
		peers = append(peers, lns[r].Addrs())
	}
	fs := make([]fabric.Fabric, n)
	for r, ln := range lns {
		own, err := tcp.FindRails(peers[r], ifs)
		if err != nil {
			t.Fatal(err)
		}
		tc := tcp.Config{Rank: r, Peers: peers, Token: []byte("secret"), Paths: make([][]tcp.Path, n)}
		for p := range n {
			if p != r {
				tc.Paths[p] = tcp.Pair(own, peers[p], nil)
			}
		}
		f, err := rails.OverTCP(ln, tc, cfg, extra(r))
		if err != nil {
			t.Fatal(err)
		}
		fs[r] = f
	}
	return fs
}

func TestConformance(t *testing.T) {
	for _, tt := range []struct{ rails, streams int }{{1, 1}, {2, 1}, {3, 2}} {
		t.Run(fmt.Sprintf("rails=%d,streams=%d", tt.rails, tt.streams), func(t *testing.T) {
			fabrictest.Run(t, fabrictest.Harness{
				New: func(t testing.TB, n int) []fabric.Fabric {
					return ranks(t, n, tt.rails, rails.Config{Streams: tt.streams, Stall: never})
				},
				Kill:  func(f fabric.Fabric) { f.(*rails.Fabric).Kill() },
				Large: 16 << 20,
			})
		})
	}
}
