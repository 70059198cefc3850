package shm_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/fabric/fabrictest"
	"thundercollective/fabric/shm"
	"thundercollective/fabric/tcp"
)

// boots returns n ranks of this process over TCP, which share no memory yet.
func boots(t testing.TB, n int) []fabric.Fabric {
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
		f, err := tcp.New(ln, tcp.Config{Rank: r, Peers: peers, Token: []byte("secret")})
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
	if runtime.GOOS != "linux" {
		t.Skip("shared memory needs Linux")
	}
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
	for _, cfg := range []shm.Config{{}, {Spin: 20 * time.Microsecond}, {Spin: 20 * time.Microsecond, Crowded: true}} {
		t.Run(fmt.Sprintf("spin=%v,crowded=%v", cfg.Spin, cfg.Crowded), func(t *testing.T) {
			fabrictest.Run(t, fabrictest.Harness{New: func(t testing.TB, n int) []fabric.Fabric {
				return ranks(t, n, cfg)
			}})
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
			err = l.Send(ctx, tag, []byte("hello"))
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

// TestFarRanks: ranks that are not near each other use the bootstrap.
func TestFarRanks(t *testing.T) {
	fs := boots(t, 2)
	for r, boot := range fs {
		f, err := shm.New(shm.Config{Bootstrap: boot, Near: func(int) bool { return false }})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fs[r] = f
	}
	link(t, fs)
	if got := fs[0].Name(); got != "shm+tcp" {
		t.Errorf("the fabric is called %q", got)
	}
	if fs[0].(fabric.Sharer).Shares(1) {
		t.Error("far ranks share memory")
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

func TestSharedMemory(t *testing.T) {
	fs := ranks(t, 2, shm.Config{})
	defer fs[0].Close()
	defer fs[1].Close()
	link(t, fs)
	a, b := fs[0].(fabric.Sharer), fs[1].(fabric.Sharer)
	mem, err := a.Alloc(10_000)
	if err != nil {
		t.Fatal(err)
	}
	h, ok := a.Share(mem[100:200])
	if !ok {
		t.Fatal("memory of Alloc cannot be shared")
	}
	theirs, err := b.Reach(0, h, 100)
	if err != nil {
		t.Fatal(err)
	}
	theirs[0] = 42
	if mem[100] != 42 {
		t.Error("the memory is not shared")
	}
	if _, err := b.Reach(0, h, 1<<20); err == nil {
		t.Error("reached beyond the memory")
	}
	if _, err := b.Reach(0, fabric.Handle{1, 2, 3, 4, 5}, 1); err == nil {
		t.Error("reached memory that was never shared")
	}
	if _, ok := a.Share(make([]byte, 10)); ok {
		t.Error("memory of the heap was shared")
	}
	if err := a.Free(mem[1:]); err == nil {
		t.Error("freed a part")
	}
	if err := a.Free(mem); err != nil {
		t.Error(err)
	}
	again, err := a.Alloc(10_000)
	if err != nil {
		t.Fatal(err)
	}
	h, _ = a.Share(again)
	if theirs, err = b.Reach(0, h, 1); err != nil || theirs[0] != 0 {
		t.Errorf("the peer sees memory that was freed: %v", err)
	}
}
