// Elastic fits a line to data with several ranks, and continues if any of them dies:
//
//	thunder launch -n 4 --restarts 3 -- elastic -dir /shared/folder
//
// When a rank dies, the operations of the others fail with an error that names it. Their
// processes keep running and call Comm.Reform, which joins the next generation of the job;
// launch starts the dead rank again, which joins too. All ranks continue from the most
// recent state that any of them has. Rank 0 also saves its state every few steps, in case
// all ranks die. Reductions give the same bits on every run, so the result is the same as
// if no rank had died.
//
// To try it, -kill-rank and -kill-step make a rank kill itself in the first generation.
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
	flag.IntVar(&t.steps, "steps", 200, "number of steps")
	flag.IntVar(&t.every, "save-every", 10, "steps between saves")
	flag.IntVar(&t.killRank, "kill-rank", -1, "rank that kills itself")
	flag.IntVar(&t.killStep, "kill-step", 0, "step at which it kills itself")
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

// state is everything that a rank needs to continue.
type state struct {
	Step    int       `json:"step"`
	Weights []float64 `json:"weights"`
}

func (t *trainer) run(ctx context.Context) error {
	if t.dir == "" {
		return errors.New("-dir is missing: the folder for the saved state")
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

// again reports whether the job can continue in its next generation: a rank was lost, or
// another rank noticed that first and has left for the next generation.
func again(err error) bool {
	var lost *thunder.PeerLostError
	var abort *thunder.AbortError
	return errors.As(err, &lost) || errors.As(err, &abort)
}

// train runs the steps of one generation.
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
	// No rank leaves while another may still need its state.
	if err := thunder.Barrier(ctx, t.comm); err != nil {
		return err
	}
	if t.comm.Rank() == 0 {
		fmt.Printf("the end in generation %d, step %d: weights %x %x\n", t.comm.Generation(), t.state.Step,
			math.Float64bits(t.state.Weights[0]), math.Float64bits(t.state.Weights[1]))
	}
	return nil
}

// agree gives all ranks the state of the one with the most steps. Ranks may be one step
// apart: when a rank dies, some may have the result of a step and others not.
func (t *trainer) agree(ctx context.Context) error {
	size := int64(t.comm.Size())
	furthest := []int64{int64(t.state.Step)*size + int64(t.comm.Rank())}
	if err := thunder.AllReduce(ctx, t.comm, furthest, thunder.Max); err != nil {
		return err
	}
	t.state.Step = int(furthest[0] / size)
	return thunder.Broadcast(ctx, t.comm, t.state.Weights, int(furthest[0]%size))
}

// step updates the weights with the average gradient of all ranks.
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

// gradient returns the gradient of the squared error for the points of one rank in one
// step. The points are on the line 3x + 1.
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

// load returns the saved state, or the initial one if there is none.
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
		return s, fmt.Errorf("%s has %d weights, want 2", path, len(s.Weights))
	}
	return s, nil
}

// save replaces the saved state atomically.
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

// die kills this process, so that it cannot clean up.
func die() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	log.Fatal(err)
}
