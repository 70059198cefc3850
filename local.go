package thunder

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"thundercollective/fabric"
	"thundercollective/internal/provider/mem"
	"thundercollective/internal/session"
	"thundercollective/internal/ticks"
)

// Local returns n ranks that are goroutines of this process, for tests, examples and
// programs that use several devices of one machine. Close all of them.
func Local(n int, o Options) ([]*Comm, error) {
	full, _, err := o.fromProcess()
	if err != nil {
		return nil, err
	}
	fabrics, err := mem.Config{NoHugePages: full.Transport.NoHugePages}.New(n)
	if err != nil {
		return nil, fmt.Errorf("thunder: %w", err)
	}
	return Over(fabrics, o)
}

// Over returns the ranks of fabrics that are all in this process, one rank a fabric. It is
// for those who write a provider; Local does the same with one of its own. Closing the
// Comms closes the fabrics; so does an error.
func Over(fabrics []fabric.Fabric, o Options) (comms []*Comm, err error) {
	defer func() {
		if err != nil {
			for _, f := range fabrics {
				f.Close()
			}
		}
	}()
	o, strangers, err := o.fromProcess()
	if err != nil {
		return nil, err
	}
	hint(o.Diagnostics.Logger, strangers)
	n := len(fabrics)
	comms = make([]*Comm, n)
	errs := make([]error, n)
	hosts := slices.Repeat([]string{hostname()}, n)
	var wg sync.WaitGroup
	for r, f := range fabrics {
		at, err := o.metricsAt(r)
		if err != nil {
			return nil, err
		}
		j := newJob(o, &ticks.Clock{})
		j.fabric, j.rank, j.hosts, j.machines, j.log = f, r, hosts, hosts, o.Diagnostics.Logger.With("rank", r)
		s := session.New(j.sessionConfig(o, nil))
		wg.Go(func() { comms[r], errs[r] = j.start(context.Background(), s, o, at) })
	}
	wg.Wait()
	for r, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("thunder: local rank %d: %w", r, err)
		}
	}
	return comms, nil
}
