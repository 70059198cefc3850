// Elastic fits a line to data that its ranks share, and survives the death of any of
// them:
//
//	thunder launch -n 4 --restarts 3 -- elastic -dir /shared/folder
//
// Every few steps rank 0 saves the state. When a rank dies, the others find out in a
// moment which one, say so, and end; launch starts all of them again in the next
// generation, where they go on from what was saved. Reductions give the same bits on
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
	var err error
	if t.comm, err = thunder.Init(ctx, thunder.Options{}); err != nil {
		return err
	}
	defer t.comm.Close()
	if err := t.resume(ctx); err != nil {
		return err
	}
	for t.state.Step < t.steps {
		if t.comm.Generation() == 0 && t.comm.Rank() == t.killRank && t.state.Step == t.killStep {
			die()
		}
		if err := t.step(ctx); err != nil {
			return err
		}
	}
	if t.comm.Rank() == 0 {
		fmt.Printf("generation %d, step %d: weights %x %x\n", t.comm.Generation(), t.state.Step,
			math.Float64bits(t.state.Weights[0]), math.Float64bits(t.state.Weights[1]))
	}
	return nil
}

// resume takes up the state that rank 0 finds.
func (t *trainer) resume(ctx context.Context) error {
	t.state = state{Weights: []float64{0, 0}}
	step := []int64{0}
	if t.comm.Rank() == 0 {
		saved, err := load(t.path())
		if err != nil {
			return err
		}
		if saved != nil {
			t.state = *saved
		}
		step[0] = int64(t.state.Step)
	}
	if err := thunder.Broadcast(ctx, t.comm, step, 0); err != nil {
		return err
	}
	t.state.Step = int(step[0])
	return thunder.Broadcast(ctx, t.comm, t.state.Weights, 0)
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

// load returns what was saved, nil if nothing was.
func load(path string) (*state, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &state{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(s.Weights) != 2 {
		return nil, fmt.Errorf("%s holds %d weights", path, len(s.Weights))
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
