package shm_test

import (
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/fabric/fabrictest"
	"thundercollective/fabric/shm"
	"thundercollective/fabric/tcp"
)

// ranks returns n ranks of this process that share memory.
func ranks(t testing.TB, n int, spin time.Duration) []fabric.Fabric {
	t.Helper()
	lns, peers := make([]*tcp.Listener, n), make([][]string, n)
	for r := range lns {
		ln, err := tcp.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		lns[r], peers[r] = ln, ln.Addrs()
	}
	fs := make([]fabric.Fabric, n)
	for r, ln := range lns {
		boot, err := tcp.New(ln, tcp.Config{Rank: r, Peers: peers, Token: []byte("secret")})
		if err != nil {
			t.Fatal(err)
		}
		if fs[r], err = shm.New(shm.Config{Bootstrap: boot, Require: true, Spin: spin}); err != nil {
			t.Fatal(err)
		}
	}
	return fs
}

func TestConformance(t *testing.T) {
	for _, spin := range []time.Duration{0, 20 * time.Microsecond} {
		t.Run("spin "+spin.String(), func(t *testing.T) {
			fabrictest.Run(t, fabrictest.Harness{New: func(t testing.TB, n int) []fabric.Fabric {
				return ranks(t, n, spin)
			}})
		})
	}
}
