package shm_test

import (
	"runtime"
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

// TestFarRanks: ranks that are not near each other use the bootstrap.
func TestFarRanks(t *testing.T) {
	far := shm.Config{Near: func(int) bool { return false }}
	fs := over(t, far, far)
	link(t, fs)
	if got := fs[0].Name(); got != "tcp" {
		t.Errorf("the fabric is called %q", got)
	}
	if m := fs[0].(fabric.Reader); m.Shares(1) || m.Reads(1) {
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

// TestSharedMemory: ranks of one process and user share memory, and read each other's if
// the system can do that; that it works is part of the conformance suite.
func TestSharedMemory(t *testing.T) {
	fs := ranks(t, 2, shm.Config{})
	defer fs[0].Close()
	defer fs[1].Close()
	link(t, fs)
	for r, f := range fs {
		m := f.(fabric.Reader)
		_, can := m.Locate(make([]byte, 10)) // tries to read this process
		if !m.Shares(1-r) || m.Reads(1-r) != can {
			t.Errorf("rank %d: shares memory: %v, reads it: %v, could: %v", r, m.Shares(1-r), m.Reads(1-r), can)
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
	for r, f := range fs {
		if f.(fabric.Sharer).Shares(1-r) || f.Name() != "tcp" {
			t.Errorf("rank %d shares memory over %s", r, f.Name())
		}
	}
}

// TestPrivate: one rank that does not want its memory to be read is enough for the pair,
// which shares that of Alloc all the same.
func TestPrivate(t *testing.T) {
	for private := range 3 {
		fs := over(t, shm.Config{Private: private != 1, Require: true}, shm.Config{Private: private != 0, Require: true})
		link(t, fs)
		for r, f := range fs {
			m := f.(fabric.Reader)
			if !m.Shares(1-r) || m.Reads(1-r) {
				t.Errorf("rank %d: shares memory: %v, reads it: %v", r, m.Shares(1-r), m.Reads(1-r))
			}
			h, _ := m.Locate(make([]byte, 10))
			if err := m.Read(1-r, h, 0, make([]byte, 10)); err == nil {
				t.Errorf("rank %d reads memory although it may not", r)
			}
		}
	}
}
