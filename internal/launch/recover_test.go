package launch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	thunder "thundercollective"
)

// rankMain is a rank of TestRestarts. Rank 2 ends with code 3 in every generation
// before the last; what the others do then is told by how. All succeed in the last.
func rankMain(how string) int {
	const victim = 2
	last := 1
	if how == "reform twice" {
		last = 2
	}
	isVictim, generation := os.Getenv("RANK") == fmt.Sprint(victim), os.Getenv("THUNDER_GENERATION")
	switch {
	case how == "never meet" && generation == "0":
		fmt.Printf("rank %s process %d generation %s\n", os.Getenv("RANK"), os.Getpid(), generation)
		if !isVictim {
			time.Sleep(time.Hour)
		}
		return 3
	case how == "false start" && generation == "1" && isVictim:
		if f, err := os.OpenFile(os.Getenv("RESTART_MARK"), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close()
			return 3 // before it meets the others, this once
		}
	}
	ctx := context.Background()
	c, err := thunder.Init(ctx, thunder.Options{})
	for err == nil {
		fmt.Printf("rank %d process %d generation %d\n", c.Rank(), os.Getpid(), c.Generation())
		if err := thunder.Barrier(ctx, c); err != nil {
			fmt.Println(err)
			return 1
		}
		if c.Generation() >= last {
			c.Close()
			return 0
		}
		if c.Rank() == victim {
			return 3
		}
		for thunder.Barrier(ctx, c) == nil {
		}
		switch {
		case how == "hang":
			time.Sleep(time.Hour)
		case how == "leave", how == "mostly leave" && c.Rank() != 0:
			return 4
		}
		c, err = c.Reform(ctx)
	}
	fmt.Println(err)
	return 1
}

// TestRestarts has rank 2 of three die, and looks at who is started again, and what
// is said about it.
func TestRestarts(t *testing.T) {
	const all = "all ranks start again in generation 1"
	for _, tt := range []struct {
		how      string
		restarts int
		edit     func(*Config)
		living   []int // ranks that keep their process to the end
		code     int
		say      []string
	}{
		{"reform", 1, nil, []int{0, 1}, 0, []string{"rank 2 on localhost failed first: it exited with code 3", "restart 1 of 1: rank 2 starts again in generation 1; ranks 0 and 1 keep running"}},
		{"reform twice", 2, nil, []int{0, 1}, 0, []string{"restart 2 of 2: rank 2 starts again in generation 2; ranks 0 and 1 keep running"}},
		{"reform twice", 1, nil, nil, 3, []string{"restart 1 of 1: rank 2 starts", "rank 2 on localhost failed first: it exited with code 3"}},
		{"false start", 2, nil, []int{0, 1}, 0, []string{"restart 1 of 2: rank 2 starts again in generation 1;", "restart 2 of 2: rank 2 starts again in generation 1;"}},
		{"reform", 1, func(c *Config) { c.RestartAll = true }, nil, 0, []string{"restart 1 of 1: all ranks start again in generation "}},
		{"mostly leave", 1, nil, []int{0}, 0, []string{"rank 1 on localhost exited with code 4", "restart 1 of 1: ranks 1 and 2 start again in generation 1; rank 0 keeps running"}},
		{"leave", 1, nil, nil, 0, []string{"restart 1 of 1: " + all}},
		{"hang", 1, func(c *Config) { c.ReformWait = 100 * time.Millisecond }, nil, 0, []string{"ranks 0 and 1 did not re-form within 100ms", "restart 1 of 1: " + all}},
		{"never meet", 1, nil, nil, 0, []string{"restart 1 of 1: " + all}},
	} {
		t.Run(fmt.Sprintf("%s, %d", tt.how, tt.restarts), func(t *testing.T) {
			t.Parallel()
			cfg, out, errs := job(3, "")
			cfg.Argv = []string{os.Args[0], "launch-rank", tt.how}
			cfg.Env = []string{"THUNDER_FABRIC=tcp", "RESTART_MARK=" + filepath.Join(t.TempDir(), "started")}
			cfg.Restarts, cfg.ReformWait = tt.restarts, time.Minute
			cfg.Output.LogDir = t.TempDir()
			if tt.edit != nil {
				tt.edit(&cfg)
			}
			err := Run(t.Context(), cfg)
			if ExitCode(err) != tt.code {
				t.Errorf("exit code %d, want %d", ExitCode(err), tt.code)
			}
			for _, text := range tt.say {
				if !strings.Contains(errs.String(), text) {
					t.Errorf("%q is missing", text)
				}
			}
			pids := processes(out.String())
			for r := range 3 {
				if kept := len(pids[r]) == 1; tt.code == 0 && kept != slices.Contains(tt.living, r) {
					t.Errorf("rank %d was in processes %v", r, pids[r])
				}
			}
			if tt.how == "reform" && len(tt.living) > 0 {
				for name, want := range map[string]int{"rank-0.log": 2, "rank-2.log": 1, "rank-2.restart-1.log": 1} {
					if b, err := os.ReadFile(filepath.Join(cfg.Output.LogDir, name)); err != nil || strings.Count(string(b), " generation ") != want {
						t.Errorf("%s: %q, %v", name, b, err)
					}
				}
			}
			if t.Failed() {
				t.Logf("stdout:\n%s\nstderr:\n%s", out, errs)
			}
		})
	}
}

// processes are those that each rank said it was.
func processes(out string) map[int][]int {
	pids := map[int][]int{}
	for line := range strings.Lines(out) {
		var tag, rank, pid, generation int
		if _, err := fmt.Sscanf(line, "%d@localhost | rank %d process %d generation %d", &tag, &rank, &pid, &generation); err == nil && !slices.Contains(pids[rank], pid) {
			pids[rank] = append(pids[rank], pid)
		}
	}
	return pids
}
