package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A program that re-forms its job keeps its other ranks when one dies: the only one
// of its machine, and one of the machine that serves the coordinator.
func TestRestartOfOneRank(t *testing.T) {
	t.Parallel()
	elastic := filepath.Join(t.TempDir(), "elastic")
	if msg, err := exec.Command("go", "build", "-o", elastic, "thundercollective/examples/elastic").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	f := twoHosts(t)
	for _, victim := range []int{0, 2} {
		t.Run(fmt.Sprintf("rank %d", victim), func(t *testing.T) {
			l := f.launch(t, "--hosts", "a:2,b", "--restarts", "1", "--reform-wait", "1m", "--",
				elastic, "-dir", t.TempDir(), "-steps", "40", "-kill-rank", fmt.Sprint(victim), "-kill-step", "17")
			l.want(t, 0, fmt.Sprintf("rank %d on %s failed first: it was killed by SIGKILL", victim, []string{"a", "a", "b"}[victim]),
				fmt.Sprintf("restart 1 of 1: rank %d starts again in generation 1; ranks ", victim), "the end in generation 1, step 40")
			pids := map[int][]int{}
			for line := range strings.Lines(l.out.String()) {
				_, line, _ = strings.Cut(line, " | ")
				var rank, pid, generation int
				if _, err := fmt.Sscanf(line, "rank %d, process %d: generation %d", &rank, &pid, &generation); err == nil {
					pids[rank] = append(pids[rank], pid)
				}
			}
			for rank := range 3 {
				if p := pids[rank]; len(p) != 2 || (p[0] == p[1]) != (rank != victim) {
					t.Errorf("rank %d was in processes %v", rank, p)
				}
			}
			l.gone(t, clock.Given(), slices.Concat(pids[0], pids[1], pids[2]))
		})
	}
}
