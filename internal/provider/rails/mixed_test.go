package rails_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/fabric/fabrictest"
	"thundercollective/internal/provider/rails"
	"thundercollective/internal/provider/stream"
	"thundercollective/internal/provider/stream/streamtest"
	"thundercollective/internal/rendezvous/handshake"
)

// withStreams starts n ranks with one TCP rail between any two, and a USB4 stream
// cable beside it.
func withStreams(t testing.TB, n int, cfg rails.Config, silence time.Duration) (fs []fabric.Fabric, cables map[[2]int]*streamtest.Cable) {
	machines := make([]*streamtest.Machine, n)
	for r := range machines {
		machines[r] = streamtest.NewMachine()
	}
	service := func(peer int) string { return fmt.Sprintf("0-%x.1", peer) }
	cables = map[[2]int]*streamtest.Cable{}
	for a := range n {
		for b := range a {
			cables[[2]int{b, a}] = streamtest.Join(machines[b], service(a), machines[a], service(b))
		}
	}
	fs = mixedRanks(t, n, 1, cfg, func(rank int) func(int) []rails.Rail {
		return func(peer int) []rails.Rail {
			if peer == rank {
				return nil
			}
			return []rails.Rail{stream.Rail(stream.Config{
				Service: service(peer), System: machines[rank], Token: []byte("secret"), First: rank > peer,
				Near: fmt.Sprint(rank), Far: fmt.Sprint(peer), Silence: silence,
				Hello: handshake.Hello{From: uint32(max(rank, peer)), To: uint32(min(rank, peer)), Size: uint32(n)},
			})}
		}
	})
	return fs, cables
}

// never is for rails that are not to be given up for being slow.
const never = time.Hour

// TestMixedConformance: TCP and USB4 streams to the same peers.
func TestMixedConformance(t *testing.T) {
	fabrictest.Run(t, fabrictest.Harness{
		New: func(t testing.TB, n int) []fabric.Fabric {
			fs, _ := withStreams(t, n, rails.Config{Stall: never}, never) // no failover on a busy machine
			return fs
		},
		Kill:  func(f fabric.Fabric) { f.(*rails.Fabric).Kill() },
		Large: 4 << 20,
	})
}

// TestMixedFailover has either kind of rail fail in turn, in every way that it can,
// while messages pass: all of them arrive as they were sent, and both rails are used
// in the end.
func TestMixedFailover(t *testing.T) {
	var log lines
	fs, cables := withStreams(t, 2, rails.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}, 0)
	cable := cables[[2]int{0, 1}]
	a, b := join(t, fs, 1)
	const tcpRail, streamRail = 0, 1
	state := func(rail int) rails.State { return fs[0].(*rails.Fabric).Rails()[rail] }
	round := func(what string) {
		t.Helper()
		data, got := make([]byte, 3<<20+5), make([]byte, 3<<20+5)
		rng := rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%-32s", what))))
		rng.Read(data)
		for _, way := range [][2]fabric.Link{{a, b}, {b, a}} {
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := fabric.Send(t.Context(), way[0], &fabric.Tag{1}, data); err != nil {
					t.Errorf("%s: sending: %v", what, err)
				}
			})
			if err := way[1].Recv(t.Context(), &fabric.Tag{1}, got); err != nil {
				t.Fatalf("%s: receiving: %v", what, err)
			}
			wg.Wait()
			for i := range got {
				if got[i] != data[i] {
					t.Fatalf("%s: byte %d is wrong", what, i)
				}
			}
			clear(got)
		}
	}
	// until passes messages until something has come true.
	until := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !is(); round(what) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: waited for a minute: %+v", what, fs[0].(*rails.Fabric).Rails())
			}
		}
	}
	used := func(rail int) func() bool {
		before := state(rail).Sent
		return func() bool { s := state(rail); return s.Up && s.Sent > before }
	}
	until("both", used(tcpRail))
	until("both", used(streamRail))

	cable.Unplug()
	until("unplugged", func() bool { return !state(streamRail).Up })
	until("unplugged", used(tcpRail))
	cable.Plug()
	until("plugged in again", used(streamRail))

	lost := state(streamRail).Failovers
	cable.Corrupt(50)
	until("bit errors", func() bool { return state(streamRail).Failovers > lost })
	cable.Corrupt(0)
	until("no bit errors", used(streamRail))

	for range 3 {
		lost := state(tcpRail).Failovers
		fs[0].(*rails.Fabric).Cut(1, tcpRail)
		until("TCP cut", func() bool { return state(tcpRail).Failovers > lost })
		until("TCP back", used(tcpRail))
	}
	closeAll(t, fs)
	if log.count("rail lost") == 0 {
		t.Error("no line about a rail that was lost")
	}
}

// TestHedge: a rail hangs and has not been given up yet. Messages of the control channel
// arrive over the other rail; heartbeats cannot wait.
func TestHedge(t *testing.T) {
	fs, cables := withStreams(t, 2, rails.Config{Stall: never}, never)
	a, b := join(t, fs, fabric.Control)
	// Both rails are there, and what is sent goes to the one that hangs.
	f := fs[0].(*rails.Fabric)
	for f.Rails()[1].Streams == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := f.Only(1, 1); err != nil {
		t.Fatal(err)
	}
	cables[[2]int{0, 1}].Hang()
	buf := make([]byte, 100)
	for i := range 10 {
		buf[7] = byte(i)
		if err := fabric.Send(t.Context(), a, &fabric.Tag{byte(i)}, buf); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 100)
		if err := b.Recv(t.Context(), &fabric.Tag{byte(i)}, got); err != nil || got[7] != byte(i) {
			t.Fatalf("message %d: %v, %d", i, err, got[7])
		}
	}
	if s := f.Rails()[1]; s.Failovers != 0 || s.Sent == 0 {
		t.Errorf("the rail that hangs: %+v", s)
	}
	closeAll(t, fs)
}
