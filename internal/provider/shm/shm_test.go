package shm_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/fabric/fabrictest"
	"thundercollective/internal/provider/shm"
	"thundercollective/internal/provider/tcp"
)

// boots returns n ranks of this process over TCP, which share no memory yet.
func boots(t testing.TB, n int) []fabric.Fabric {
	t.Helper()
	return bootsWith(t, n, tcp.Config{})
}

func bootsWith(t testing.TB, n int, cfg tcp.Config) []fabric.Fabric {
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
		cfg.Rank, cfg.Peers, cfg.Token = r, peers, []byte("secret")
		f, err := tcp.New(ln, cfg)
		if err != nil {
			t.Fatal(err)
		}
		fs[r] = f
	}
	return fs
}

// ranks returns n ranks of this process that share memory.
func ranks(t testing.TB, n int, cfg shm.Config) []fabric.Fabric {
	t.Helper()
	fs := boots(t, n)
	for r, boot := range fs {
		cfg.Bootstrap, cfg.Require = boot, true
		f, err := shm.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		fs[r] = f
	}
	return fs
}

func TestConformance(t *testing.T) {
	const spin = 20 * time.Microsecond
	for name, cfg := range map[string]shm.Config{
		"sleeping":          {},
		"spinning":          {Spin: spin},
		"crowded":           {Spin: spin, Crowded: true},
		"sleeping,portable": {Portable: true},
		"spinning,portable": {Spin: spin, Portable: true},
	} {
		t.Run(name, func(t *testing.T) {
			fabrictest.Run(t, fabrictest.Harness{New: func(t testing.TB, n int) []fabric.Fabric {
				return ranks(t, n, cfg)
			}, Abilities: fabrictest.Abilities{Memory: true, Reads: shm.CanRead()}})
		})
	}
}

// link opens a link between ranks 0 and 1 and sends a message over it.
func link(t *testing.T, fs []fabric.Fabric) {
	t.Helper()
	ctx, tag := t.Context(), &fabric.Tag{1}
	sent := make(chan error, 1)
	go func() {
		l, err := fs[0].Link(ctx, 1, 3)
		if err == nil {
			err = fabric.Send(ctx, l, tag, []byte("hello"))
		}
		sent <- err
	}()
	l, err := fs[1].Link(ctx, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 5)
	if err := l.Recv(ctx, tag, buf); err != nil || string(buf) != "hello" {
		t.Fatalf("got %q, %v", buf, err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
}

// over returns ranks that differ in their configuration, and may share no memory.
func over(t *testing.T, cfgs ...shm.Config) []fabric.Fabric {
	t.Helper()
	fs := boots(t, len(cfgs))
	for r, cfg := range cfgs {
		cfg.Bootstrap = fs[r]
		f, err := shm.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		fs[r] = f
	}
	return fs
}

// memories has all ranks find out what they share.
func memories(t testing.TB, fs []fabric.Fabric) []fabric.Memory {
	t.Helper()
	ms, list := make([]fabric.Memory, len(fs)), make([]int, len(fs))
	for r := range list {
		list[r] = r
	}
	var wg sync.WaitGroup
	for r, f := range fs {
		wg.Go(func() {
			var err error
			if ms[r], err = f.Memory(t.Context(), 5, list); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		for _, m := range ms {
			if m != nil {
				m.Close()
			}
		}
	})
	return ms
}

// TestFarRanks: ranks that are not near each other use the bootstrap.
func TestFarRanks(t *testing.T) {
	far := shm.Config{Near: func(int) bool { return false }}
	fs := over(t, far, far)
	link(t, fs)
	if got := fs[0].Name(); got != "tcp" {
		t.Errorf("the fabric is called %q", got)
	}
	for r, m := range memories(t, fs) {
		if m != nil {
			t.Errorf("rank %d: far ranks share memory", r)
		}
	}
}

func TestRequired(t *testing.T) {
	boot := boots(t, 2)
	defer boot[1].Close()
	f, err := shm.New(shm.Config{Bootstrap: boot[0], Near: func(int) bool { return false }, Require: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Link(t.Context(), 1, 1); err == nil {
		t.Error("no error although memory has to be shared")
	}
}

func TestConfig(t *testing.T) {
	if _, err := shm.New(shm.Config{}); err == nil {
		t.Error("no error without a bootstrap")
	}
}

// TestSharedMemory: ranks of one process and user share memory, and read each other's if
// the system can do that; that it works is part of the conformance suite.
func TestSharedMemory(t *testing.T) {
	fs := ranks(t, 2, shm.Config{})
	defer fs[0].Close()
	defer fs[1].Close()
	link(t, fs)
	for r, m := range memories(t, fs) {
		if m == nil {
			t.Fatalf("rank %d shares no memory", r)
		}
		_, can := m.Locate(make([]byte, 10)) // tries to read this process
		if m.Reads() != can || can != shm.CanRead() {
			t.Errorf("rank %d: reads memory: %v, could: %v, the system can: %v", r, m.Reads(), can, shm.CanRead())
		}
	}
}

// TestDisagree: ranks that would not wake each other share no memory, and get along.
func TestDisagree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: on other systems than Linux ranks cannot disagree")
	}
	fs := over(t, shm.Config{Portable: true}, shm.Config{})
	link(t, fs)
	for r, m := range memories(t, fs) {
		if m != nil || fs[r].Name() != "tcp" {
			t.Errorf("rank %d shares memory over %s", r, fs[r].Name())
		}
	}
}

// TestPrivate: one rank that does not want its memory to be read is enough for the pair,
// which shares that of Alloc all the same.
func TestPrivate(t *testing.T) {
	for private := range 3 {
		fs := over(t, shm.Config{Private: private != 1, Require: true}, shm.Config{Private: private != 0, Require: true})
		link(t, fs)
		for r, m := range memories(t, fs) {
			if m == nil || m.Reads() {
				t.Fatalf("rank %d: shares memory: %v, or reads it", r, m != nil)
			}
			h, _ := m.Locate(make([]byte, 10))
			if err := m.ReadAt(1-r, h, 0, make([]byte, 10)); err == nil {
				t.Errorf("rank %d reads memory although it may not", r)
			}
		}
	}
}

func always() bool { return true }

// TestMixed: of three ranks, two share memory and one does not. What is posted moves on
// although its poster waits on the other kind of link.
func TestMixed(t *testing.T) {
	near := func(r int) bool { return r < 2 }
	for _, streams := range []int{1, 3} {
		for _, spin := range []time.Duration{0, 20 * time.Microsecond} {
			t.Run(fmt.Sprintf("streams=%d,spin=%v", streams, spin), func(t *testing.T) {
				fs := bootsWith(t, 3, tcp.Config{Streams: streams, Spin: spin, Background: always})
				for r, boot := range fs {
					f, err := shm.New(shm.Config{Bootstrap: boot, Spin: spin, Near: func(peer int) bool { return near(r) && near(peer) }})
					if err != nil {
						t.Fatal(err)
					}
					defer f.Close()
					fs[r] = f
				}
				fabrictest.Backlog(t, fs, 16<<20)
				if got := fs[0].Name(); got != "shm+tcp" {
					t.Errorf("the fabric is called %q", got)
				}
			})
		}
	}
}

// TestTurnsOutMixed: that a rank shares no memory is found out when something is posted
// already to one that does, and it moves on all the same.
func TestTurnsOutMixed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: on other systems than Linux ranks cannot disagree")
	}
	fs := bootsWith(t, 3, tcp.Config{Background: always})
	for r, boot := range fs {
		f, err := shm.New(shm.Config{Bootstrap: boot, Portable: r == 2})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fs[r] = f
	}
	const long = 4 << 20
	ctx, tag := t.Context(), &fabric.Tag{1}
	open := func(f fabric.Fabric, peer int) fabric.Link {
		l, err := f.Link(ctx, peer, 1)
		if err != nil {
			t.Error(err)
			runtime.Goexit()
		}
		return l
	}
	var wg sync.WaitGroup
	check := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	wg.Go(func() {
		to := open(fs[0], 1)
		_, err := to.Post(tag, make([]byte, long))
		check(err)
		check(open(fs[0], 2).Recv(ctx, tag, make([]byte, 8)))
		check(to.Await(ctx, 0))
	})
	wg.Go(func() {
		check(open(fs[1], 0).Recv(ctx, tag, make([]byte, long)))
		check(fabric.Send(ctx, open(fs[1], 2), tag, make([]byte, 8)))
	})
	wg.Go(func() {
		l := open(fs[2], 0)
		check(open(fs[2], 1).Recv(ctx, tag, make([]byte, 8)))
		check(fabric.Send(ctx, l, tag, make([]byte, 8)))
	})
	wg.Wait()
}

// A registrar is a bootstrap that notes what is registered with it.
type registrar struct {
	fabric.Fabric
	mu    sync.Mutex
	known map[*byte]int
	err   error
}

func (r *registrar) Register(b []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.known[&b[0]] = len(b)
	}
	return r.err
}

func (r *registrar) Unregister(b []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[&b[0]] != len(b) {
		return errors.New("it was never registered")
	}
	delete(r.known, &b[0])
	return nil
}

// TestRegisters: memory of Alloc is registered with the bootstrap as long as it lives, and
// memory that the bootstrap does not take serves all the same.
func TestRegisters(t *testing.T) {
	fs := boots(t, 2)
	defer fs[1].Close()
	boot := &registrar{Fabric: fs[0], known: map[*byte]int{}}
	f, err := shm.New(shm.Config{Bootstrap: boot})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem, err := f.Alloc(100_000)
	if err != nil {
		t.Fatal(err)
	}
	if boot.known[&mem[0]] != len(mem) {
		t.Errorf("registered: %v", boot.known)
	}
	other := make([]byte, 10)
	if err := f.Register(other); err != nil || boot.known[&other[0]] != 10 {
		t.Errorf("memory of others is not registered: %v", err)
	}
	if err := f.Unregister(other); err != nil {
		t.Error(err)
	}
	if err := f.Free(mem); err != nil || len(boot.known) != 0 {
		t.Errorf("%v, and still registered: %v", err, boot.known)
	}
	boot.err = errors.New("no more than that")
	if mem, err = f.Alloc(100); err != nil {
		t.Fatal(err)
	}
	if err := f.Free(mem); err != nil {
		t.Error(err)
	}
}
