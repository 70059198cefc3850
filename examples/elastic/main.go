// Elastic fits a line to data that its ranks share, and survives the death of any of
// them:
//
//	thunder launch -n 4 --restarts 3 -- elastic -dir /shared/folder
//
// When a rank dies, the others find out in a moment which one. They live on: they ask
// for the job's next generation (Comm.Reform), where launch has the dead one started
// again, and all go on from the state of whoever knows most. Every few steps rank 0
// saves its state, for the case that nobody is left. Reductions give the same bits on
// every run, so the result is that of a run in which nobody died.
//
// -kill-rank and -kill-step have a rank kill itself in the first generation, to see
// that happen.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	thunder "thundercollective"
)

func main() {
	var t trainer
	flag.StringVar(&t.dir, "dir", "", "folder for the saved state, the same on all machines")
	flag.IntVar(&t.steps, "steps", 200, "steps to take")
	flag.IntVar(&t.every, "save-every", 10, "steps between saves")
	flag.IntVar(&t.killRank, "kill-rank", -1, "rank that kills itself")
	flag.IntVar(&t.killStep, "kill-step", 0, "step at which it does")
	flag.Parse()
	if err := t.run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// trainer is the program of one rank.
type trainer struct {
	dir                string
	steps, every       int
	killRank, killStep int

	comm  *thunder.Comm
	state state
}

// state is all that a rank needs to go on.
type state struct {
	Step    int       `json:"step"`
	Weights []float64 `json:"weights"`
}

func (t *trainer) run(ctx context.Context) error {
	if t.dir == "" {
		return errors.New("say where to save the state: -dir")
	}
	comm, err := thunder.Init(ctx, thunder.Options{})
	if err != nil {
		return err
	}
	t.comm, t.state = comm, state{Weights: []float64{0, 0}}
	if t.comm.Rank() == 0 {
		if t.state, err = load(t.path()); err != nil {
			return err
		}
	}
	for {
		err := t.train(ctx)
		if !again(err) {
			return errors.Join(err, t.comm.Close())
		}
		log.Printf("rank %d at step %d: %v", t.comm.Rank(), t.state.Step, err)
		if t.comm, err = t.comm.Reform(ctx); err != nil {
			return err
		}
	}
}

// again says of an error that the job can go on in its next generation: a rank was
// lost, or one that knew of it first is on its way there.
func again(err error) bool {
	var lost *thunder.PeerLostError
	var abort *thunder.AbortError
	return errors.As(err, &lost) || errors.As(err, &abort)
}

// train takes the steps of one generation.
func (t *trainer) train(ctx context.Context) error {
	if err := t.agree(ctx); err != nil {
		return err
	}
	fmt.Printf("rank %d, process %d: generation %d from step %d\n", t.comm.Rank(), os.Getpid(), t.comm.Generation(), t.state.Step)
	for t.state.Step < t.steps {
		if t.comm.Generation() == 0 && t.comm.Rank() == t.killRank && t.state.Step == t.killStep {
			die()
		}
		if err := t.step(ctx); err != nil {
			return err
		}
	}
	// Nobody leaves while another may still need its state.
	if err := thunder.Barrier(ctx, t.comm); err != nil {
		return err
	}
	if t.comm.Rank() == 0 {
		fmt.Printf("the end in generation %d, step %d: weights %x %x\n", t.comm.Generation(), t.state.Step,
			math.Float64bits(t.state.Weights[0]), math.Float64bits(t.state.Weights[1]))
	}
	return nil
}

// agree has all ranks take up the state of the one that is furthest. Ranks may be a
// step apart: one of them may have its result when another dies, and the rest not.
func (t *trainer) agree(ctx context.Context) error {
	size := int64(t.comm.Size())
	furthest := []int64{int64(t.state.Step)*size + int64(t.comm.Rank())}
	if err := thunder.AllReduce(ctx, t.comm, furthest, thunder.Max); err != nil {
		return err
	}
	t.state.Step = int(furthest[0] / size)
	return thunder.Broadcast(ctx, t.comm, t.state.Weights, int(furthest[0]%size))
}

// step moves the weights against the mean of the ranks' gradients.
func (t *trainer) step(ctx context.Context) error {
	grad := gradient(t.state.Weights, t.state.Step, t.comm.Rank())
	if err := thunder.AllReduce(ctx, t.comm, grad, thunder.Avg); err != nil {
		return err
	}
	for i := range grad {
		t.state.Weights[i] -= 0.1 * grad[i]
	}
	t.state.Step++
	if t.comm.Rank() == 0 && t.state.Step%t.every == 0 {
		return save(t.path(), &t.state)
	}
	return nil
}

// gradient is that of the squared error over the points that a rank has in a step,
// of the line 3x + 1.
func gradient(w []float64, step, rank int) []float64 {
	const points = 64
	g := []float64{0, 0}
	for i := range points {
		x := math.Sin(float64(step*7919 + rank*104729 + i))
		miss := w[0]*x + w[1] - (3*x + 1)
		g[0] += 2 * miss * x / points
		g[1] += 2 * miss / points
	}
	return g
}

func (t *trainer) path() string { return filepath.Join(t.dir, "elastic.json") }

// load returns what was saved; the beginning if nothing was.
func load(path string) (state, error) {
	s := state{Weights: []float64{0, 0}}
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	if len(s.Weights) != 2 {
		return s, fmt.Errorf("%s holds %d weights", path, len(s.Weights))
	}
	return s, nil
}

// save replaces what was saved, at once or not at all.
func save(path string, s *state) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", b, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// die is the end that no program can prepare for.
func die() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	log.Fatal(err)
}
