// Command train trains a small model on several ranks. It shows that the result is the
// same, bit for bit, as that of one rank with the same global batch, and how much of the
// communication is hidden behind the backward pass.
//
//	go run ./examples/train                       # two ranks in this process
//	go run ./examples/train -ranks 4 -wire bf16   # four, with half the bytes
//	thunder launch -n 2 -- go run ./examples/train  # as processes, on any machines
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"

	"thundercollective"
	"thundercollective/train"
)

type settings struct {
	steps   int
	batch   int // samples per step, of all ranks together
	wire    train.Wire
	layers  int // of the backward pass whose communication is measured
	layerKB int
}

func main() {
	ranks := flag.Int("ranks", 2, "ranks in this process, unless a launcher started it")
	steps := flag.Int("steps", 200, "training steps")
	wire := flag.String("wire", "f32", "type of gradients on the wire: f32, bf16, f16, int8")
	layers := flag.Int("layers", 16, "layers of the measured backward pass")
	layerKB := flag.Int("layer-kb", 4096, "KiB of gradients in each layer")
	flag.Parse()
	s := settings{steps: *steps, batch: 48, layers: *layers, layerKB: *layerKB}
	var err error
	if s.wire, err = train.ParseWire(*wire); err == nil {
		err = run(os.Stdout, *ranks, s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

// run joins the job that a launcher has started. Without one, it makes a job of ranks in
// this process.
func run(w io.Writer, local int, s settings) error {
	ctx := context.Background()
	c, err := thunder.Init(ctx, thunder.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	if c.Size() > 1 {
		return oneRank(ctx, w, c, s)
	}
	comms, err := thunder.Local(local, thunder.Options{})
	if err != nil {
		return err
	}
	errs := make([]error, local)
	var wg sync.WaitGroup
	for r, c := range comms {
		wg.Go(func() {
			if errs[r] = oneRank(ctx, w, c, s); errs[r] != nil {
				c.Abort(errs[r].Error())
			}
		})
	}
	wg.Wait()
	for _, c := range comms {
		c.Close()
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// oneRank runs on each rank; rank 0 prints.
func oneRank(ctx context.Context, w io.Writer, c *thunder.Comm, s settings) error {
	if c.Rank() != 0 {
		w = io.Discard
	}
	if s.batch%c.Size() != 0 {
		return fmt.Errorf("a batch of %d samples cannot be divided among %d ranks", s.batch, c.Size())
	}
	together, err := trainTogether(ctx, c, s)
	if err != nil {
		return err
	}
	alone := trainAlone(c.Size(), s)
	fmt.Fprintf(w, "%d ranks over %s, %d steps, wire %v\n", c.Size(), c.Fabric(), s.steps, s.wire)
	fmt.Fprintf(w, "loss %.6f after training, %.6f on one rank with the same global batch\n", together.loss(s.batch), alone.loss(s.batch))
	differ := 0
	for i := range alone.params {
		for j := range alone.params[i] {
			if alone.params[i][j] != together.params[i][j] {
				differ++
			}
		}
	}
	switch {
	case differ == 0:
		fmt.Fprintln(w, "all weights are the same, bit for bit")
	case s.wire == train.F32:
		return fmt.Errorf("%d weights differ from those of one rank", differ)
	default:
		fmt.Fprintf(w, "%d weights differ: %v rounds gradients\n", differ, s.wire)
	}
	return measure(ctx, w, c, s)
}
