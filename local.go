package thunder

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"thundercollective/fabric"
	"thundercollective/internal/provider/mem"
	"thundercollective/internal/ticks"
)

// Local returns n ranks that are goroutines of this process, for tests, examples and
// programs that use several devices of one machine. Close all of them.
func Local(n int, o Options) ([]*Comm, error) {
	o, strangers, err := o.fromProcess()
	if err != nil {
		return nil, err
	}
	hint(o.Logger, strangers)
	fabrics, err := mem.New(n)
	if err != nil {
		return nil, fmt.Errorf("thunder: %w", err)
	}
	return over(fabrics, o)
}

// over returns the ranks of fabrics in this process.
func over(fabrics []fabric.Fabric, o Options) ([]*Comm, error) {
	n := len(fabrics)
	comms, errs := make([]*Comm, n), make([]error, n)
	hosts := slices.Repeat([]string{hostname()}, n)
	var wg sync.WaitGroup
	for r, f := range fabrics {
		at, err := o.metricsAt(r)
		if err != nil {
			return nil, err
		}
		j := &job{clock: &ticks.Clock{}, metricsAt: at, fab: f, rank: r, hosts: hosts, timeout: o.Timeout, silence: o.silenceAmong(nil), dumps: dumper{dir: o.DumpDir}, algo: o.Algo, calibrate: o.Calibrate, segment: o.Segment, smallPages: o.NoHugePages, log: o.Logger.With("rank", r)}
		wg.Go(func() { comms[r], errs[r] = j.start(context.Background()) })
	}
	wg.Wait()
	for r, err := range errs {
		if err != nil {
			for _, f := range fabrics {
				f.Close()
			}
			return nil, fmt.Errorf("thunder: local rank %d: %w", r, err)
		}
	}
	return comms, nil
}
