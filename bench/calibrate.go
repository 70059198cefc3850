package bench

import (
	"context"
	"slices"
	"time"

	thunder "thundercollective"
	"thundercollective/collective"
	"thundercollective/reduce"
)

// The messages that Calibrate times.
const (
	calibrateSmall = 8
	calibrateLarge = 4 << 20
)

// Calibrate measures the cost of messages and of reducing between the ranks 0 and 1
// of comm, in a fraction of a second, and returns the same model on all ranks, which
// all have to call it.
func Calibrate(ctx context.Context, comm *thunder.Comm) (collective.Model, error) {
	small, err := halfRoundTrip(ctx, comm, calibrateSmall, 200)
	if err != nil {
		return collective.Model{}, err
	}
	large, err := halfRoundTrip(ctx, comm, calibrateLarge, 10)
	if err != nil {
		return collective.Model{}, err
	}
	costs := []float64{
		small,
		max(large-small, 0) / (calibrateLarge - calibrateSmall) * 1000,
		reduceCost(),
	}
	if err := thunder.Broadcast(ctx, comm, costs, 0); err != nil {
		return collective.Model{}, err
	}
	return collective.Model{Alpha: round(costs[0]), Beta: round(costs[1]), Gamma: round(costs[2])}, nil
}

// halfRoundTrip is the median time of a message one way, in µs, as rank 0 sees it.
func halfRoundTrip(ctx context.Context, comm *thunder.Comm, n, rounds int) (float64, error) {
	buf := make([]byte, n)
	there := &thunder.Request{Kind: thunder.KindSend, DType: thunder.U8, Root: 1, Send: buf}
	back := &thunder.Request{Kind: thunder.KindRecv, DType: thunder.U8, Root: 1, Recv: buf}
	steps := []*thunder.Request{there, back}
	if comm.Rank() == 1 {
		there.Root, back.Root = 0, 0
		steps = []*thunder.Request{back, there}
	}
	times := make([]float64, 0, rounds)
	for i := range rounds + rounds/2 {
		if comm.Rank() > 1 {
			break
		}
		start := time.Now()
		for _, r := range steps {
			if err := comm.Do(ctx, r); err != nil {
				return 0, err
			}
		}
		if i >= rounds/2 { // the first ones warm up
			times = append(times, float64(time.Since(start))/2e3)
		}
	}
	if len(times) == 0 {
		return 0, nil
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// reduceCost is what it takes to add 1000 bytes of float32, in µs.
func reduceCost() float64 {
	const n = 256 << 10
	add, err := reduce.Lookup(reduce.F32, reduce.Sum)
	if err != nil {
		return 0
	}
	a, b := make([]byte, n), make([]byte, n)
	best := time.Hour
	for range 20 {
		start := time.Now()
		add(a, a, b)
		best = min(best, time.Since(start))
	}
	return float64(best) / 1e3 / n * 1000
}

// explain says what the model expected of the row; nothing if there is none.
func (r *Row) explain(m *collective.Model) {
	k := r.Mode.kind()
	if m == nil {
		return
	}
	r.Model = m
	bytes := r.SizeBytes
	if r.Mode.blocks() {
		bytes /= int64(r.WorldSize)
	}
	algo, err := collective.ParseAlgo(r.Algo)
	if err != nil || k == 0 {
		algo, k = collective.Direct, collective.SendRecv
	}
	t := m.Predict(k, algo, r.WorldSize, int(bytes))
	if r.Mode == PingPong {
		t *= 2 // there and back
	}
	t = round(t)
	r.Predicted = &t
}
