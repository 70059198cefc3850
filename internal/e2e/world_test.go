package e2e_test

import (
	"context"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/patience"
	"thundercollective/internal/rendezvous"
)

// testLimit bounds what a test waits for; nothing that works takes so long, where the
// machine has time for it.
const testLimit = 2 * time.Minute

// fabrics are the ways to make ranks in this process.
var fabrics = map[string]func(testing.TB, int, thunder.Options) []*thunder.Comm{
	"mem":  memRanks,
	"tcp":  tcpRanks,
	"solo": soloRanks,
	"shm":  shmRanks,
}

// memRanks returns n ranks over the mem fabric, which the test closes.
func memRanks(t testing.TB, n int, o thunder.Options) []*thunder.Comm {
	t.Helper()
	comms, err := thunder.Local(n, o)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, comms)
	return comms
}

// tcpRanks returns n ranks over sockets on loopback, which meet at a coordinator.
func tcpRanks(t testing.TB, n int, o thunder.Options) []*thunder.Comm {
	t.Helper()
	return initRanks(t, n, o, "tcp")
}

// soloRanks returns n ranks over single sockets, which is the default where a rank has no
// processors to spare: short operations of two take a way of their own.
func soloRanks(t testing.TB, n int, o thunder.Options) []*thunder.Comm {
	t.Helper()
	o.Transport.Streams = 1
	return initRanks(t, n, o, "tcp")
}

// shmRanks returns n ranks that share memory, as processes of one machine would.
func shmRanks(t testing.TB, n int, o thunder.Options) []*thunder.Comm {
	t.Helper()
	return initRanks(t, n, o, "shm")
}

func initRanks(t testing.TB, n int, o thunder.Options, fabric string) []*thunder.Comm {
	t.Helper()
	coordinator(t, n)
	o.Transport.Fabric = fabric
	if o.Transport.Streams == 0 {
		o.Transport.Streams = 2
	}
	return openRanks(t, n, o)
}

// openRanks opens n ranks of a job in this process.
func openRanks(t testing.TB, n int, o thunder.Options) []*thunder.Comm {
	t.Helper()
	comms := make([]*thunder.Comm, n)
	each(t, n, func(r int) error {
		o := o
		o.Join.Rank, o.Join.Size = r, n
		var err error
		comms[r], err = thunder.Init(t.Context(), o)
		return err
	})
	if t.Failed() {
		t.FailNow()
	}
	closeAtEnd(t, comms)
	return comms
}

// coordinator serves n ranks and tells them through the environment.
func coordinator(t testing.TB, n int) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		rendezvous.Serve(ctx, ln, rendezvous.ServerConfig{Size: n, Token: []byte("secret"), Timeout: testLimit})
	}()
	t.Cleanup(func() { cancel(); <-served })
	setenv(t, "THUNDER_COORDINATOR", ln.Addr().String())
	setenv(t, "THUNDER_COORDINATOR_SERVED", "1")
	setenv(t, "THUNDER_TOKEN", "secret")
}

func setenv(t testing.TB, key, value string) { t.(interface{ Setenv(k, v string) }).Setenv(key, value) }

func closeAtEnd(t testing.TB, comms []*thunder.Comm) {
	t.Cleanup(func() {
		each(t, len(comms), func(r int) error { return comms[r].Close() })
	})
}

// each runs f for every rank at once and fails the test with the errors. The test
// fails, with all stacks, if one does not return.
func each(t testing.TB, n int, f func(rank int) error) {
	t.Helper()
	var wg sync.WaitGroup
	for r := range n {
		wg.Go(func() {
			if err := f(r); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	ctx, cancel := patience.Context(context.Background(), testLimit)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
		buf := make([]byte, 1<<20)
		t.Fatalf("ranks hang\n%s", buf[:runtime.Stack(buf, true)])
	}
}

// logTo returns a logger whose lines go to f, one at a time.
func logTo(f func(line string)) *slog.Logger {
	return slog.New(slog.NewTextHandler(lineWriter{&sync.Mutex{}, f}, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

type lineWriter struct {
	mu *sync.Mutex
	f  func(string)
}

func (w lineWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.f(string(b))
	return len(b), nil
}
