package bench

import (
	"context"
	"fmt"
	"time"

	thunder "thundercollective"
)

// What Matrix does for each pair when iterations are left open.
const (
	matrixPings  = 200
	matrixBudget = 50 * time.Millisecond
)

// runMatrix measures the ordered pairs one after the other, so that they do not
// get in each other's way. The others wait for the broadcast of the result.
func runMatrix(ctx context.Context, comm *thunder.Comm, cfg Config, emit func(Row)) error {
	for from := range comm.Size() {
		for to := range comm.Size() {
			if from == to {
				continue
			}
			row, err := measurePair(ctx, comm, cfg, from, to)
			if err != nil {
				return fmt.Errorf("%s from rank %d to rank %d: %w", cfg.Mode, from, to, err)
			}
			emit(row)
		}
	}
	return nil
}

// A pairResult is what the sending rank of a pair learns and tells everybody.
type pairResult struct {
	pings   []float64 // seconds
	seconds float64   // of all transfers
	iters   int
	wrong   int64
}

func measurePair(ctx context.Context, comm *thunder.Comm, cfg Config, from, to int) (Row, error) {
	size := cfg.DType.Size()
	s := shape{count: int((cfg.Max + int64(size) - 1) / int64(size))}
	s.bytes = int64(s.count * size)
	pings := cfg.Iters
	if pings == 0 {
		pings = matrixPings
	}
	res := pairResult{pings: make([]float64, pings)}
	var err error
	switch comm.Rank() {
	case from:
		err = res.lead(ctx, comm, cfg, s, to)
	case to:
		err = follow(ctx, comm, cfg, s, from, pings)
	}
	if err != nil {
		return Row{}, err
	}
	tail := []float64{res.seconds, float64(res.iters), float64(res.wrong)}
	all := append(res.pings, tail...)
	if err := thunder.Broadcast(ctx, comm, all, from); err != nil {
		return Row{}, err
	}
	row := cfg.newRow(comm, s)
	row.From, row.To = &from, &to
	row.Lat = latency(all[:pings])
	row.ElapsedSecs, row.Iters = round(all[pings]), int(all[pings+1])
	if row.ElapsedSecs > 0 {
		row.AlgBW = round(float64(s.bytes) * float64(row.Iters) / row.ElapsedSecs / 1e9)
		row.BusBW, row.GBps = row.AlgBW, row.AlgBW
	}
	if !cfg.NoCheck {
		wrong := int64(all[pings+2])
		row.Wrong = &wrong
	}
	return row, nil
}

// lead is the sender's part: round trips of one element, then a train of large
// messages whose arrival the receiver confirms.
func (res *pairResult) lead(ctx context.Context, comm *thunder.Comm, cfg Config, s shape, to int) error {
	ping := []int64{0}
	for i := range res.pings {
		start := time.Now()
		if err := thunder.Send(ctx, comm, ping, to); err != nil {
			return err
		}
		if err := thunder.Recv(ctx, comm, ping, to); err != nil {
			return err
		}
		res.pings[i] = time.Since(start).Seconds()
	}
	buf := make([]byte, s.bytes)
	cfg.movedBy(comm.Rank()).fill(buf, 0)
	// The first train is a single message and warms the path up.
	for _, train := range []bool{false, true} {
		res.iters = 1
		if train {
			res.iters = cfg.Iters
			if res.iters == 0 {
				fit := matrixBudget.Seconds() / max(res.seconds, 1e-9)
				res.iters = int(min(max(fit, minIters), maxIters))
			}
		}
		// The receiver answers when its buffer is ready.
		ready := []int64{int64(res.iters)}
		if err := thunder.Send(ctx, comm, ready, to); err != nil {
			return err
		}
		if err := thunder.Recv(ctx, comm, ready, to); err != nil {
			return err
		}
		start := time.Now()
		for range res.iters {
			if err := comm.Do(ctx, &thunder.Request{Kind: thunder.KindSend, DType: cfg.DType, Root: to, Send: buf}); err != nil {
				return err
			}
		}
		wrong := []int64{0}
		if err := thunder.Recv(ctx, comm, wrong, to); err != nil {
			return err
		}
		res.seconds = time.Since(start).Seconds()
		if err := thunder.Recv(ctx, comm, wrong, to); err != nil {
			return err
		}
		res.wrong += wrong[0]
	}
	return nil
}

// follow is the receiver's part.
func follow(ctx context.Context, comm *thunder.Comm, cfg Config, s shape, from, pings int) error {
	ping := []int64{0}
	for range pings {
		if err := thunder.Recv(ctx, comm, ping, from); err != nil {
			return err
		}
		if err := thunder.Send(ctx, comm, ping, from); err != nil {
			return err
		}
	}
	buf := make([]byte, s.bytes)
	pattern := cfg.movedBy(from)
	for range 2 {
		iters := []int64{0}
		if err := thunder.Recv(ctx, comm, iters, from); err != nil {
			return err
		}
		poison(buf)
		if err := thunder.Send(ctx, comm, iters, from); err != nil {
			return err
		}
		for range iters[0] {
			if err := comm.Do(ctx, &thunder.Request{Kind: thunder.KindRecv, DType: cfg.DType, Root: from, Recv: buf}); err != nil {
				return err
			}
		}
		// Confirm first, look at what came afterwards: the sender's clock runs.
		wrong := []int64{0}
		if err := thunder.Send(ctx, comm, wrong, from); err != nil {
			return err
		}
		if !cfg.NoCheck {
			wrong[0] = pattern.wrong(buf, 0)
		}
		if err := thunder.Send(ctx, comm, wrong, from); err != nil {
			return err
		}
	}
	return nil
}
