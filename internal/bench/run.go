package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/crc32c"
)

// Unless Config.Iters is set, one row takes about rowBudget and has minIters to maxIters
// iterations.
const (
	rowBudget = 250 * time.Millisecond
	minIters  = 5
	maxIters  = 5000
)

// Run measures what cfg describes and calls emit with each row when it is complete. Every
// rank of comm must call it with the same cfg. All ranks emit the same rows, except for
// Rank and FinalValue. A wrong result is not an error: see Row.Bad.
func Run(ctx context.Context, comm *thunder.Comm, cfg Config, emit func(Row)) error {
	if err := cfg.Validate(comm.Size()); err != nil {
		return err
	}
	cfg.fill()
	switch {
	case cfg.Mode == Matrix:
		return runMatrix(ctx, comm, cfg, emit)
	case cfg.Idle > 0:
		return runIdle(ctx, comm, cfg, emit)
	}
	// The algorithms of a group are known after its first operation.
	if err := thunder.Barrier(ctx, comm); err != nil {
		return err
	}
	var model *thunder.Model
	if cfg.Explain && comm.Size() > 1 {
		m, err := comm.Calibrate(ctx)
		if err != nil {
			return fmt.Errorf("calibrate: %w", err)
		}
		model = &m
	}
	rank, ranks := comm.Rank(), comm.Size()
	shapes := cfg.shapes(ranks)
	sends, recvs := cfg.need(rank, ranks, shapes[len(shapes)-1])
	m, free, err := cfg.memory(comm, sends, recvs)
	if err != nil {
		return err
	}
	defer free()
	for _, s := range shapes {
		row, err := measure(ctx, comm, cfg, s, newTask(cfg, rank, ranks, s, m))
		if err != nil {
			return fmt.Errorf("%s of %s: %w", cfg.Mode, FormatSize(float64(s.bytes)), err)
		}
		row.explain(comm, model)
		emit(row)
	}
	return nil
}

// streams returns the number of TCP connections to a peer.
func (c Config) streams(comm *thunder.Comm) int {
	if c.Streams > 0 {
		return c.Streams
	}
	return comm.Streams()
}

// newRow returns a row with everything that is known before the measurement.
func (c Config) newRow(comm *thunder.Comm, s shape) Row {
	r := Row{
		Mode: c.Mode, Fabric: comm.Fabric(), Algo: c.Algo.String(),
		Rank: comm.Rank(), WorldSize: comm.Size(), Alone: comm.Size() == 1,
		SizeBytes: s.bytes, Count: int64(s.count),
		DType: c.DType.String(), Op: "none", Root: -1, Streams: c.streams(comm),
	}
	if r.WorldSize == 1 && c.Fabric != "" && c.Fabric != "auto" {
		r.Fabric = c.Fabric // a job of one rank has no fabric
	}
	if !strings.Contains(r.Fabric, "tcp") {
		r.Streams = 1 // only TCP has several
	}
	if k := c.Mode.kind(); k != 0 && r.WorldSize > 1 {
		choice := comm.Choice(k, c.Algo, c.DType, s.count)
		r.Algo = choice.Algo.String()
		path := choice.Path
		if c.Alloc {
			path = choice.PathAlloc
		}
		switch {
		case path == thunder.PathBoard:
			r.Algo = board
		case path == thunder.PathShared:
			r.Algo = shared
		case path == thunder.PathRoundTrip:
			r.Algo = roundTrip
		case c.Explain:
			r.Segment = choice.Segment
			if n := cores(); choice.Crowded && r.WorldSize > n {
				r.Crowding = float64(r.WorldSize) / float64(n)
			}
		}
	}
	if c.Mode.Reduces() {
		r.Op = c.Op.String()
	}
	if c.Mode.Rooted() {
		r.Root = c.Root
	}
	return r
}

// measure measures one row: an iteration that is only checked, some to warm up, and the
// timed ones. Checks are done between the timed iterations; see Check.
func measure(ctx context.Context, comm *thunder.Comm, cfg Config, s shape, t *task) (Row, error) {
	row := cfg.newRow(comm, s)
	var wrong int64
	var cost time.Duration
	t.prepare()
	if cfg.Check != CheckNone {
		if err := t.step(ctx, comm); err != nil {
			return row, err
		}
		wrong += t.wrong()
		cost = checkCost(t)
	}
	iters, every, err := warmUp(ctx, comm, cfg, s, t, cost)
	if err != nil {
		return row, err
	}
	if err := thunder.Barrier(ctx, comm); err != nil {
		return row, err
	}
	// One element more than iterations: it tells whether this rank took part.
	times := make([]float64, iters+1)
	begin := time.Now() // time.Since is faster than time.Now
	for i := range iters {
		last := i == iters-1 && cfg.Check != CheckNone
		check := last || cfg.Check == CheckAll && (i+1)%every == 0
		switch {
		case last:
			t.prepare()
		case check:
			t.renew()
		}
		if last || cfg.BarrierEach {
			if err := thunder.Barrier(ctx, comm); err != nil {
				return row, err
			}
		}
		start := time.Since(begin)
		if err := t.step(ctx, comm); err != nil {
			return row, err
		}
		times[i] = (time.Since(begin) - start).Seconds()
		if check {
			wrong += t.wrong()
			row.Checked++
		}
	}
	row.FinalValue = t.value()
	if cfg.Check != CheckNone {
		if err := settle(ctx, comm, cfg, t, wrong, &row); err != nil {
			return row, err
		}
	}
	if err := average(ctx, comm, len(t.steps) > 0, times); err != nil {
		return row, err
	}
	row.setTimes(times[:iters])
	return row, nil
}

// warmUp runs the iterations that are not timed. It returns how many to time, and the
// distance between those to check if a check takes cost.
func warmUp(ctx context.Context, comm *thunder.Comm, cfg Config, s shape, t *task, cost time.Duration) (iters, every int, err error) {
	rounds := cfg.Warmup
	if rounds < 0 {
		rounds = 3 // by the third, long buffers have settled
		if s.bytes <= 1<<20 {
			rounds = 10
		}
	}
	if cfg.Iters == 0 {
		rounds = max(rounds, 1)
	}
	// Use the shortest: the first iteration opens links and moves buffers to huge pages.
	var shortest time.Duration
	for i := range rounds {
		start := time.Now()
		if err := t.step(ctx, comm); err != nil {
			return 0, 0, err
		}
		if took := time.Since(start); i == 0 || took < shortest {
			shortest = took
		}
	}
	iters = cfg.Iters
	if iters > 0 && cfg.Check != CheckAll {
		return iters, 1, nil
	}
	// The slowest rank decides for all.
	shortest, cost, err = slowest(ctx, comm, shortest, cost)
	if err != nil {
		return 0, 0, err
	}
	if iters == 0 {
		fit := int64(rowBudget / max(shortest, 1))
		iters = int(min(max(fit, minIters), maxIters))
	}
	return iters, checkEvery(cost, shortest, iters), nil
}

// average replaces the times of this rank by the mean over the participating ranks, as
// nccl-tests does by default. The last element of times serves to count these.
func average(ctx context.Context, comm *thunder.Comm, active bool, times []float64) error {
	last := len(times) - 1
	if active {
		times[last] = 1
	} else {
		clear(times)
	}
	if err := thunder.AllReduce(ctx, comm, times, thunder.Sum); err != nil {
		return err
	}
	for i := range last {
		times[i] /= times[last]
	}
	return nil
}

// settle adds up the wrong elements of all ranks, and compares and combines the ranks'
// checksums.
func settle(ctx context.Context, comm *thunder.Comm, cfg Config, t *task, wrong int64, row *Row) error {
	sums := make([]uint32, comm.Size())
	if err := thunder.AllGather(ctx, comm, sums, []uint32{t.checksum()}); err != nil {
		return err
	}
	total := []int64{wrong}
	if err := thunder.AllReduce(ctx, comm, total, thunder.Sum); err != nil {
		return err
	}
	if cfg.Mode.sameResult() {
		// Every rank whose result differs from that of rank 0 counts, whether its elements
		// are right or wrong.
		for _, sum := range sums {
			if sum != sums[0] {
				total[0]++
			}
		}
		sums = slices.Compact(sums)
	}
	row.Wrong = &total[0]
	row.Checksum = combined(sums)
	return nil
}

// combined returns a single checksum unchanged, and the checksum of several checksums.
func combined(sums []uint32) string {
	if len(sums) == 1 {
		return fmt.Sprintf("%08x", sums[0])
	}
	var all []byte
	for _, sum := range sums {
		all = binary.BigEndian.AppendUint32(all, sum)
	}
	return fmt.Sprintf("%08x", crc32c.Sum(all))
}
