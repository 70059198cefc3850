package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"thundercollective/internal/bench/trial"
	"thundercollective/internal/reduce"
)

// limitRun measures the lower bound of an all-reduce in shared memory: two threads of one
// process that each add half of both buffers and store the sum in both.
func limitRun(_ context.Context, _ *settings, _ benchCase, sizes []int) (map[int]float64, error) {
	add, err := reduce.Lookup(reduce.F32, reduce.Sum)
	if err != nil {
		return nil, err
	}
	got := map[int]float64{}
	for _, size := range sizes {
		if size < 4096 {
			continue // the threads would mostly wait for each other
		}
		a, b := make([]byte, size), make([]byte, size)
		rounds := min(max(int(0.15e9/(float64(size)/10)), 5), 2000)
		times := make([]float64, rounds)
		var turn [2]atomic.Int64
		worker := func(me int) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			from, to := me*size/2, (me+1)*size/2
			const piece = 16 << 10
			for i := range rounds {
				// Both start together, and the time is that of the slower thread.
				turn[me].Add(1)
				for turn[1-me].Load() < int64(2*i+1) {
				}
				start := time.Now()
				for at := from; at < to; at += piece {
					end := min(at+piece, to)
					add(a[at:end], a[at:end], b[at:end])
					copy(b[at:end], a[at:end])
				}
				turn[me].Add(1)
				for turn[1-me].Load() < int64(2*i+2) {
				}
				if me == 0 {
					times[i] = float64(time.Since(start)) / 1e3
				}
			}
		}
		var wg sync.WaitGroup
		wg.Go(func() { worker(0) })
		wg.Go(func() { worker(1) })
		wg.Wait()
		got[size] = trial.Median(times)
	}
	return got, nil
}
