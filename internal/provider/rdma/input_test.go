package rdma_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/provider/mem"
	"thundercollective/internal/provider/rdma"
	"thundercollective/internal/provider/rdma/rdmatest"
)

// TestBadInput checks that each way of having no RDMA is a sentence that names
// the culprit and the fix.
func TestBadInput(t *testing.T) {
	for _, tt := range []struct {
		name string
		opt  func(*rdmatest.Options)
		cfg  func(*rdma.Config)
		want []string
	}{
		{"no such device", nil, func(c *rdma.Config) { c.Devices = [][]string{nil, {"mlx9"}} }, []string{"mlx9", "does not exist", "emu0"}},
		{"no device", func(o *rdmatest.Options) { o.Devices = -1 }, nil, []string{"no RDMA device", "driver"}},
		{"port down", func(o *rdmatest.Options) { o.PortDown = true }, nil, []string{"emu0", "port 1 is down", "cable"}},
		{"no such port", nil, func(c *rdma.Config) { c.Port = 7 }, []string{"emu0", "port 7"}},
		{"no usable GID", func(o *rdmatest.Options) { o.NoIPv4 = true }, nil, []string{"emu0", "IPv4", "0: fe80::1"}},
		{"no such GID", nil, func(c *rdma.Config) { c.GIDIndex = 9 }, []string{"emu0", "index 9", "0: fe80::1", "2: ::ffff:10.90.0.1"}},
		{"short row", nil, func(c *rdma.Config) { c.Devices = [][]string{nil} }, []string{"1 entries for 2 ranks"}},
		{"empty row", nil, func(c *rdma.Config) { c.Devices = [][]string{nil, nil} }, []string{"names no RDMA device from rank 0 to rank 1"}},
		{"too many rails", nil, func(c *rdma.Config) { c.Devices = [][]string{nil, {"a", "b", "c", "d", "e"}} }, []string{"5 devices for rank 1"}},
		{"bad GID index", nil, func(c *rdma.Config) { c.GIDIndex = -1 }, []string{"GID index -1"}},
		{"negative time", nil, func(c *rdma.Config) { c.Linger = -1 }, []string{"negative"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opt, cfg := rdmatest.RoCE(), rdma.Config{}
			if tt.opt != nil {
				tt.opt(&opt)
			}
			if tt.cfg != nil {
				tt.cfg(&cfg)
			}
			boots, err := mem.New(2)
			if err != nil {
				t.Fatal(err)
			}
			net := rdmatest.NewNetwork(opt)
			cfg.Host = net.Host(0)
			_, err = rdma.New(context.Background(), boots[0], cfg)
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
			if live := net.Live(); len(live) > 0 {
				t.Errorf("left on the devices: %v", live)
			}
		})
	}
}

// TestLockedMemory runs into the limit when a link is made.
func TestLockedMemory(t *testing.T) {
	opt := rdmatest.RoCE()
	opt.LockLimit = 1 << 20
	j := newJob(t, 2, opt, rdma.Config{})
	var wg sync.WaitGroup
	for r := range 2 {
		wg.Go(func() {
			_, err := j.fabrics[r].Link(context.Background(), 1-r, 1)
			var un *rdma.UnavailableError
			if !errors.As(err, &un) || un.Peer != 1-r || !strings.Contains(err.Error(), "ulimit -l") {
				t.Errorf("rank %d: got %v, want an UnavailableError that names the limit", r, err)
			}
		})
	}
	wg.Wait()
	if _, err := j.fabrics[0].Alloc(2 << 20); err == nil || !strings.Contains(err.Error(), "ulimit -l") {
		t.Errorf("Alloc beyond the limit: %v", err)
	}
}

// TestRegionLimit runs out of memory regions.
func TestRegionLimit(t *testing.T) {
	opt := rdmatest.Thunderbolt()
	opt.MaxMR = 3
	j := newJob(t, 2, opt, rdma.Config{})
	var err error
	for i := 0; err == nil && i < 10; i++ {
		_, err = j.fabrics[0].Alloc(100)
	}
	if err == nil || !strings.Contains(err.Error(), "3 memory regions") {
		t.Errorf("got %v, want the limit of 3 regions", err)
	}
}

// TestFallback joins a rank without a device, one whose port is down, and two
// that have RDMA. Each pair uses what it can, and says so once.
func TestFallback(t *testing.T) {
	boots, err := mem.New(4)
	if err != nil {
		t.Fatal(err)
	}
	good := rdmatest.NewNetwork(rdmatest.RoCE())
	down, none := rdmatest.RoCE(), rdmatest.RoCE()
	down.PortDown, none.Devices = true, -1
	cfgs := []rdma.Config{
		{Host: good.Host(0)}, {Host: good.Host(1)},
		{Host: rdmatest.NewNetwork(down).Host(2)}, {Host: rdmatest.NewNetwork(none).Host(3)},
	}
	var log bytes.Buffer
	var fs []*rdma.Fabric
	for r, cfg := range cfgs {
		cfg.Fallback = true
		if r == 0 {
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		}
		f, err := rdma.New(context.Background(), boots[r], cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fs = append(fs, f)
	}
	j := &job{fabrics: fs}
	for ch := fabric.Channel(1); ch <= 2; ch++ {
		for peer := 1; peer < 4; peer++ {
			a, b := j.join(t, 0, peer, ch)
			if _, isRDMA := a.(*rdma.Link); isRDMA != (peer == 1) {
				t.Errorf("link to rank %d is a %T", peer, a)
			}
			if err := fabric.Send(context.Background(), a, &fabric.Tag{}, []byte("hi")); err != nil {
				t.Fatal(err)
			}
			if err := b.Recv(context.Background(), &fabric.Tag{}, make([]byte, 2)); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{"rank 1: RDMA over emu0 (RC)", "rank 2: not RDMA: rank 2 says: RDMA device emu0: port 1 is down", "rank 3: not RDMA: rank 3 says: this machine has no RDMA device"}
	for i, p := range fs[0].Paths() {
		if !strings.HasPrefix(p.String(), want[i]) {
			t.Errorf("path %q, want %q", p, want[i])
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[1], "port 1 is down") || !strings.Contains(lines[2], "instead=mem") {
		t.Errorf("log:\n%s", log.String())
	}
}

// TestFallbackNeedsBoth gives the pair no common ground.
func TestFallbackNeedsBoth(t *testing.T) {
	boots, err := mem.New(2)
	if err != nil {
		t.Fatal(err)
	}
	none := rdmatest.RoCE()
	none.Devices = -1
	var fs []*rdma.Fabric
	for r, cfg := range []rdma.Config{{Host: rdmatest.NewNetwork(rdmatest.RoCE()).Host(0)}, {Host: rdmatest.NewNetwork(none).Host(1), Fallback: true}} {
		f, err := rdma.New(context.Background(), boots[r], cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fs = append(fs, f)
	}
	var wg sync.WaitGroup
	for r, f := range fs {
		wg.Go(func() {
			_, err := f.Link(context.Background(), 1-r, 1)
			var un *rdma.UnavailableError
			if !errors.As(err, &un) || !strings.Contains(err.Error(), "no RDMA device") {
				t.Errorf("rank %d: %v", r, err)
			}
		})
	}
	wg.Wait()
}
