package rdma_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/fabric/fabrictest"
	"thundercollective/internal/provider/mem"
	"thundercollective/internal/provider/rdma"
	"thundercollective/internal/provider/rdma/rdmatest"
)

// A job is the ranks of a test, each on an emulated host of its own.
type job struct {
	net     *rdmatest.Network
	boots   []fabric.Fabric
	fabrics []*rdma.Fabric
}

// newJob starts n ranks. The test fails if devices were mistreated or anything is
// left on them in the end.
func newJob(t testing.TB, n int, opt rdmatest.Options, cfg rdma.Config) *job {
	t.Helper()
	boots, err := mem.New(n)
	if err != nil {
		t.Fatal(err)
	}
	if opt.Noise == nil {
		// Nothing is lost, so nothing may need repair: a link that waits for
		// its timers has missed something.
		cfg.Retry, cfg.GiveUp = time.Minute, time.Hour
	}
	if cfg.Devices == nil {
		opt.Devices = 3
	}
	j := &job{net: rdmatest.NewNetwork(opt), boots: boots}
	for r := range n {
		cfg.Host = j.net.Host(r)
		if opt.Devices == 3 {
			cfg.Devices = cables(r, n)
		}
		f, err := rdma.New(context.Background(), boots[r], cfg)
		if err != nil {
			t.Fatal(err)
		}
		j.fabrics = append(j.fabrics, f)
	}
	t.Cleanup(func() { j.check(t, opt.Noise != nil) })
	return j
}

// cables is the row of a rank in a full mesh of up to 4: device k joins the ranks
// whose numbers differ in the bits of k+1, so each cable has its own.
func cables(rank, n int) [][]string {
	row := make([][]string, n)
	for p := range row {
		if p != rank {
			row[p] = []string{fmt.Sprintf("emu%d", (rank^p)-1)}
		}
	}
	return row
}

// check closes what is open and looks at what is left.
func (j *job) check(t testing.TB, noisy bool) {
	t.Helper()
	for _, f := range j.fabrics {
		if err := f.Close(); err != nil {
			t.Errorf("rank %d: close: %v", f.Rank(), err)
		}
		if got := f.Resources(); got != (rdma.Resources{}) {
			t.Errorf("rank %d still holds %v", f.Rank(), got)
		}
	}
	if live := j.net.Live(); len(live) > 0 {
		t.Errorf("left on the devices: %v", live)
	}
	if faults := j.net.Faults(); len(faults) > 0 && !noisy {
		t.Errorf("the devices were mistreated: %q", faults)
	}
}

// join opens the link between two ranks from both ends.
func (j *job) join(t testing.TB, a, b int, ch fabric.Channel) (la, lb fabric.Link) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	var ea, eb error
	wg.Go(func() { la, ea = j.fabrics[a].Link(ctx, b, ch) })
	wg.Go(func() { lb, eb = j.fabrics[b].Link(ctx, a, ch) })
	wg.Wait()
	if ea != nil || eb != nil {
		t.Fatalf("links: %v, %v", ea, eb)
	}
	return la, lb
}

// kill ends a rank as a crash would.
func (j *job) kill(rank int) {
	j.net.Host(rank).Kill()
	j.boots[rank].Close()
}

// profiles are the kinds of devices that everything has to work on.
var profiles = []struct {
	name string
	opt  func() rdmatest.Options
	cfg  rdma.Config
}{
	{"RC", rdmatest.RoCE, rdma.Config{Spin: 20 * time.Microsecond}},
	{"RC,parked", rdmatest.RoCE, rdma.Config{}},
	{"RC,no events", func() rdmatest.Options {
		o := rdmatest.RoCE()
		o.NoEvents = true
		return o
	}, rdma.Config{}},
	{"RC,one piece per request", func() rdmatest.Options {
		o := rdmatest.RoCE()
		o.MaxSGE = 1
		return o
	}, rdma.Config{}},
	{"UC", rdmatest.Thunderbolt, rdma.Config{Spin: 20 * time.Microsecond}},
	{"UC,no events", func() rdmatest.Options {
		o := rdmatest.Thunderbolt()
		o.NoEvents = true
		return o
	}, rdma.Config{}},
	{"UC,shallow queues", func() rdmatest.Options {
		o := rdmatest.Thunderbolt()
		o.MaxQPWR = 40
		return o
	}, rdma.Config{}},
	{"UC,messages of one frame", func() rdmatest.Options {
		o := rdmatest.Thunderbolt()
		o.MaxMessage = 4096
		return o
	}, rdma.Config{}},
}

func TestConformance(t *testing.T) {
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) { conformance(t, p.opt(), p.cfg) })
	}
}

func conformance(t *testing.T, opt rdmatest.Options, cfg rdma.Config) {
	jobs := map[fabric.Fabric]*job{}
	fabrictest.Run(t, fabrictest.Harness{
		New: func(t testing.TB, n int) []fabric.Fabric {
			j := newJob(t, n, opt, cfg)
			fs := make([]fabric.Fabric, n)
			for r, f := range j.fabrics {
				fs[r] = f
				jobs[f] = j
			}
			return fs
		},
		Kill:      func(f fabric.Fabric) { jobs[f].kill(f.Rank()) },
		Abilities: fabrictest.Abilities{ZeroCopy: opt.RC}, // unreliable devices write to slots only
		Copied:    func(l fabric.Link) uint64 { return rdma.StatsOf(l).Copied },
	})
}
