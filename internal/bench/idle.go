package bench

import (
	"context"
	"time"

	thunder "thundercollective"

	"golang.org/x/sys/unix"
)

// runIdle delays the last rank before a barrier and measures the processor time that the
// other ranks use while they wait in it.
func runIdle(ctx context.Context, comm *thunder.Comm, cfg Config, emit func(Row)) error {
	row := cfg.newRow(comm, shape{})
	for range 3 { // links and plans are created on first use
		if err := thunder.Barrier(ctx, comm); err != nil {
			return err
		}
	}
	late := comm.Rank() == comm.Size()-1
	if late {
		select {
		case <-time.After(cfg.Idle):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	start, used := time.Now(), processorTime()
	if err := thunder.Barrier(ctx, comm); err != nil {
		return err
	}
	elapsed := time.Since(start).Seconds()
	share := []float64{0, 0} // percent of a processor; seconds waited
	if !late {
		share = []float64{100 * (processorTime() - used).Seconds() / elapsed, elapsed}
	}
	if err := thunder.AllReduce(ctx, comm, share, thunder.Max); err != nil {
		return err
	}
	row.setTimes([]float64{share[1]})
	cpu := round(share[0])
	row.WaitCPU = &cpu
	emit(row)
	return nil
}

// processorTime returns the processor time that this process has used so far.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
