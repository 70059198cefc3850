package tcp_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/fabric/fabrictest"
	"thundercollective/internal/provider/tcp"
)

// ranks starts n ranks on the given host.
func ranks(t testing.TB, n int, host string, cfg tcp.Config) []fabric.Fabric {
	t.Helper()
	lns := make([]*tcp.Listener, n)
	for r := range lns {
		ln, err := tcp.Listen(host + ":0")
		if err != nil {
			t.Fatal(err)
		}
		lns[r] = ln
		cfg.Peers = append(cfg.Peers, ln.Addrs())
	}
	fs := make([]fabric.Fabric, n)
	for r, ln := range lns {
		cfg.Rank = r
		f, err := tcp.New(ln, cfg)
		if err != nil {
			t.Fatal(err)
		}
		fs[r] = f
	}
	return fs
}

func TestConformance(t *testing.T) {
	for _, tt := range []struct {
		host    string
		streams int
		spin    time.Duration
		crowded bool
		back    bool
	}{
		{"127.0.0.1", 1, 0, false, false},
		{"127.0.0.1", 1, 20 * time.Microsecond, true, false},
		{"127.0.0.1", 1, 20 * time.Microsecond, false, true},
		{"127.0.0.1", 4, 20 * time.Microsecond, false, false},
		{"[::1]", 2, 0, false, false},
	} {
		t.Run(fmt.Sprintf("%s,streams=%d,spin=%v,crowded=%v,background=%v", tt.host, tt.streams, tt.spin, tt.crowded, tt.back), func(t *testing.T) {
			fabrictest.Run(t, fabrictest.Harness{
				New: func(t testing.TB, n int) []fabric.Fabric {
					return ranks(t, n, tt.host, tcp.Config{Token: []byte("secret"), Streams: tt.streams, Spin: tt.spin, Crowded: tt.crowded, Background: func() bool { return tt.back }})
				},
				// Only on Linux is there anything special about a single stream.
				Abilities: fabrictest.Abilities{Borrow: tt.streams == 1 && runtime.GOOS == "linux"},
				Kill:      func(f fabric.Fabric) { f.(*tcp.Fabric).Kill() },
				Large:     16 << 20,
			})
		})
	}
}
