package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"thundercollective"
	"thundercollective/train"
)

// measure compares a backward pass that communicates at its end with one that communicates
// all the time. The layers only sleep, like a program that waits for a GPU, and take as
// long together as the communication: if the same cores computed and communicated, the two
// could not overlap.
func measure(ctx context.Context, w io.Writer, c *thunder.Comm, s settings) error {
	lens := slices.Repeat([]int{s.layerKB * 1024 / 4}, s.layers)
	g, err := train.NewGradientBucket(ctx, c, lens, train.Config{Wire: s.wire, BucketBytes: s.layerKB * 1024})
	if err != nil {
		return err
	}
	defer g.Close()

	const passes = 5
	if _, err := timePass(ctx, c, g, 0, false); err != nil { // warm up: connections, plans, memory
		return err
	}
	communication, err := best(passes, func() (time.Duration, error) { return timePass(ctx, c, g, 0, false) })
	if err != nil {
		return err
	}
	layer := communication / time.Duration(s.layers)
	after, err := best(passes, func() (time.Duration, error) { return timePass(ctx, c, g, layer, false) })
	if err != nil {
		return err
	}
	overlapped, err := best(passes, func() (time.Duration, error) { return timePass(ctx, c, g, layer, true) })
	if err != nil {
		return err
	}
	compute := layer * time.Duration(s.layers)
	share := func(step time.Duration) float64 { return 100 * max(0, 1-compute.Seconds()/step.Seconds()) }
	fmt.Fprintf(w, "a pass of %d layers, %d KiB of gradients each, in %d buckets:\n", s.layers, s.layerKB, g.Buckets())
	fmt.Fprintf(w, "  communication alone %8.1f ms, compute %.1f ms\n", ms(communication), ms(compute))
	fmt.Fprintf(w, "  one after the other %8.1f ms, of which communication %2.0f %%\n", ms(after), share(after))
	fmt.Fprintf(w, "  overlapped          %8.1f ms, of which communication %2.0f %%\n", ms(overlapped), share(overlapped))
	hidden := max(0, min(1, 1-(overlapped-compute).Seconds()/communication.Seconds()))
	fmt.Fprintf(w, "  hidden: %.0f %% of the communication\n", 100*hidden)
	return nil
}

// timePass runs a pass and returns the time of the slowest rank.
func timePass(ctx context.Context, c *thunder.Comm, g *train.GradientBucket, layer time.Duration, overlap bool) (time.Duration, error) {
	if err := thunder.Barrier(ctx, c); err != nil {
		return 0, err
	}
	start := time.Now()
	for i := g.Len() - 1; i >= 0; i-- {
		// Until a point in time, so that a late layer does not delay the next.
		time.Sleep(time.Until(start.Add(layer * time.Duration(g.Len()-i))))
		if overlap {
			g.Ready(i)
		}
	}
	if !overlap {
		for i := g.Len() - 1; i >= 0; i-- {
			g.Ready(i)
		}
	}
	if err := g.Wait(ctx); err != nil {
		return 0, err
	}
	took := []float64{time.Since(start).Seconds()}
	if err := thunder.AllReduce(ctx, c, took, thunder.Max); err != nil {
		return 0, err
	}
	return time.Duration(took[0] * float64(time.Second)), nil
}

// best returns the smallest of n measurements.
func best(n int, f func() (time.Duration, error)) (time.Duration, error) {
	least := time.Duration(1<<63 - 1)
	for range n {
		d, err := f()
		if err != nil {
			return 0, err
		}
		least = min(least, d)
	}
	return least, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
