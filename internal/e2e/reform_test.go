package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/freeaddr"
)

// reformRole reduces; when a rank is lost it re-forms the job and does it again. In the
// end it has nothing of any generation.
func reformRole() int {
	before := takeStock()
	ctx := context.Background()
	c, err := thunder.Init(ctx, thunder.Options{})
	for err == nil {
		one := []int32{1}
		fmt.Println("in", c.Generation())
		if c.Generation() > 0 {
			if err := thunder.AllReduce(ctx, c, one, thunder.Sum); err != nil {
				fmt.Println("error", err)
				return 1
			}
			fmt.Println("sum", one[0])
			if err := thunder.Barrier(ctx, c); err != nil {
				fmt.Println("error", err)
				return 1
			}
			c.Close()
			if left := leftBehind(before); left != "" {
				fmt.Println("left", left)
				return 1
			}
			return 0
		}
		var opErr error
		for opErr == nil {
			opErr = thunder.AllReduce(ctx, c, one, thunder.Max)
		}
		var lost *thunder.PeerLostError
		if !errors.As(opErr, &lost) {
			fmt.Println("error", opErr)
			return 1
		}
		fmt.Println("lost", lost.Rank)
		c, err = c.Reform(ctx)
	}
	fmt.Println("error", err)
	return 1
}

// TestReform kills a rank and starts it again in the next generation, where the
// survivors meet it: at the coordinator that rank 0 serves, also when it was rank 0
// that died, and at addresses that all know.
func TestReform(t *testing.T) {
	for _, tt := range []struct {
		name   string
		victim int
		env    func(r, n int) []string
	}{
		{"coordinator", 2, coordinatorEnv(t)},
		{"coordinator of the dead", 0, coordinatorEnv(t)},
		{"hostfile", 1, hostfileEnv(t, 3)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const n = 3
			start := func(r int, more ...string) process {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), roleVar+"=reform", "THUNDER_TOKEN=secret", fmt.Sprintf("THUNDER_RANK=%d", r), fmt.Sprintf("THUNDER_WORLD_SIZE=%d", n))
				cmd.Env = append(append(cmd.Env, tt.env(r, n)...), more...)
				return startProcess(t, cmd)
			}
			expect := func(r int, p process, want string) {
				t.Helper()
				if line, err := p.out.ReadString('\n'); strings.TrimSpace(line) != want {
					t.Fatalf("rank %d: got %q (%v), want %q", r, line, err, want)
				}
			}
			var ps []process
			for r := range n {
				ps = append(ps, start(r))
			}
			for r, p := range ps {
				expect(r, p, "in 0")
			}
			ps[tt.victim].Process.Kill()
			ps[tt.victim].Wait()
			for r, p := range ps {
				if r != tt.victim {
					expect(r, p, fmt.Sprint("lost ", tt.victim))
				}
			}
			ps[tt.victim] = start(tt.victim, "THUNDER_GENERATION=1")
			for r, p := range ps {
				expect(r, p, "in 1")
			}
			for r, p := range ps {
				expect(r, p, "sum 3")
				rest, _ := io.ReadAll(p.out)
				if err := p.Wait(); err != nil {
					t.Errorf("rank %d: %v\n%s", r, err, rest)
				}
			}
		})
	}
}

// coordinatorEnv has rank 0 serve the coordinator at a port that is free now.
func coordinatorEnv(t *testing.T) func(r, n int) []string {
	addr := freeaddr.Loopback(t, 1)[0]
	return func(int, int) []string { return []string{"THUNDER_COORDINATOR=" + addr} }
}

func hostfileEnv(t *testing.T, n int) func(r, n int) []string {
	text := `[["` + strings.Join(freeaddr.Loopback(t, n), `"],["`) + `"]]`
	return func(int, int) []string { return []string{"THUNDER_HOSTFILE=" + text} }
}

// TestReformNeedsInit refuses groups that Init did not make.
func TestReformNeedsInit(t *testing.T) {
	comms := memRanks(t, 1, thunder.Options{})
	if _, err := comms[0].Reform(t.Context()); err == nil {
		t.Error("a local group was re-formed")
	}
}
