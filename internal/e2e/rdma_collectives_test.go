package e2e_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	thunder "thundercollective"
	"thundercollective/fabric"
	"thundercollective/internal/bench"
	"thundercollective/internal/provider/mem"
	"thundercollective/internal/provider/rdma"
	"thundercollective/internal/provider/rdma/rdmatest"
)

// An rdmaJob is ranks on emulated devices, in a mesh of cables: device k of a host
// leads to the host whose number differs in the bits of k+1.
type rdmaJob struct {
	net   *rdmatest.Network
	boots []fabric.Fabric
	comms []*thunder.Comm
}

// overRDMA starts n ranks.
func overRDMA(t *testing.T, n int, opt rdmatest.Options, o thunder.Options) *rdmaJob {
	t.Helper()
	boots, err := mem.New(n)
	if err != nil {
		t.Fatal(err)
	}
	opt.Devices = 3
	net := rdmatest.NewNetwork(opt)
	fabrics := make([]fabric.Fabric, n)
	for r := range fabrics {
		row := make([][]string, n)
		for p := range row {
			if p != r {
				row[p] = []string{fmt.Sprintf("emu%d", (r^p)-1)}
			}
		}
		f, err := rdma.New(context.Background(), boots[r], rdma.Config{Host: net.Host(r), Devices: row})
		if err != nil {
			t.Fatal(err)
		}
		fabrics[r] = f
	}
	comms, err := thunder.Over(fabrics, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range comms {
			c.Close()
		}
		if live := net.Live(); len(live) > 0 {
			t.Errorf("left on the devices: %v", live)
		}
	})
	return &rdmaJob{net, boots, comms}
}

// TestCollectivesOverRDMA runs everything on both kinds of devices, and on one of
// them with messages lost and damaged. Every element is right.
func TestCollectivesOverRDMA(t *testing.T) {
	noisy := rdmatest.Thunderbolt()
	noisy.Noise = rdmatest.Lossy(5, 0.01, 0.01)
	for _, p := range []struct {
		name string
		opt  rdmatest.Options
	}{{"RC", rdmatest.RoCE()}, {"UC", rdmatest.Thunderbolt()}, {"UC with noise", noisy}} {
		for _, n := range []int{2, 4} {
			for _, alloc := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s,ranks=%d,alloc=%v", p.name, n, alloc), func(t *testing.T) {
					comms := overRDMA(t, n, p.opt, thunder.Options{}).comms
					for _, mode := range bench.Modes() {
						if mode != bench.Matrix {
							benchRight(t, comms, bench.Config{Mode: mode, Min: 40, Max: 1 << 20, Factor: 160, Iters: 2, Alloc: alloc})
						}
					}
				})
			}
		}
	}
}

// benchRight runs a benchmark and checks that nothing was wrong.
func benchRight(t *testing.T, comms []*thunder.Comm, cfg bench.Config) {
	t.Helper()
	var wg sync.WaitGroup
	for _, c := range comms {
		wg.Go(func() {
			err := bench.Run(context.Background(), c, cfg, func(r bench.Row) {
				if r.Wrong == nil || *r.Wrong != 0 || r.Fabric != "rdma" {
					t.Errorf("%s, %d bytes over %s: wrong is %v", cfg.Mode, r.SizeBytes, r.Fabric, r.Wrong)
				}
			})
			if err != nil {
				t.Errorf("%s: rank %d: %v", cfg.Mode, c.Rank(), err)
			}
		})
	}
	wg.Wait()
}
