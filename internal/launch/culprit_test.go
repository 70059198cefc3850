package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/launch/hosts"
)

// culpritMain is a rank of TestCulprit. Rank 1 is at fault, as how says, and dies when
// rank 0 is gone: later than its victim.
func culpritMain(how string) int {
	ctx := context.Background()
	c, err := thunder.Init(ctx, thunder.Options{})
	if err != nil {
		fmt.Println(err)
		return 9
	}
	pid := []int64{int64(os.Getpid())} // of rank 0
	if err := thunder.Broadcast(ctx, c, pid, 0); err != nil {
		fmt.Println(err)
		return 9
	}
	if c.Rank() == 0 {
		err := thunder.Recv(ctx, c, make([]byte, 1), 1)
		fmt.Println("rank 0:", err)
		return 1
	}
	switch how {
	case "leaves", "leaves well":
		c.Close()
	default:
		c.Abort("a wrong number")
	}
	for syscall.Kill(int(pid[0]), 0) == nil {
		time.Sleep(time.Millisecond)
	}
	switch how {
	case "leaves well":
		return 0
	case "stays":
		time.Sleep(time.Hour)
	}
	fmt.Println("rank 1: the reason")
	return 3
}

// TestCulprit has a rank fail because of another that dies after it: the other is named,
// with its exit code and its last lines, unless it did not fail by itself.
func TestCulprit(t *testing.T) {
	for _, tt := range []struct {
		how    string
		linger time.Duration
		rank   int
		code   int
		say    []string
	}{
		{"aborts", time.Minute, 1, 3, []string{"rank 1 on localhost failed first: it exited with code 3", "  rank 1: the reason", "rank 0 on localhost exited with code 1", ", because of rank 1"}},
		{"leaves", time.Minute, 1, 3, []string{"rank 1 on localhost failed first: it exited with code 3", ", because of rank 1"}},
		{"leaves well", time.Minute, 0, 1, []string{"rank 0 on localhost failed first: it exited with code 1", ", because of rank 1", "1 rank had succeeded"}},
		{"stays", time.Millisecond, 0, 1, []string{"rank 0 on localhost failed first: it exited with code 1", ", because of rank 1", "rank 1 on localhost was killed by SIGTERM"}},
	} {
		t.Run(tt.how, func(t *testing.T) {
			t.Parallel()
			cfg, _, errs := job(2, "")
			cfg.Argv = []string{os.Args[0], "launch-culprit", tt.how}
			cfg.Linger = tt.linger
			err := Run(t.Context(), cfg)
			re, ok := errors.AsType[*RankError](err)
			if !ok || re.Rank != tt.rank || ExitCode(err) != tt.code {
				t.Errorf("got %v with code %d, want rank %d with %d", err, ExitCode(err), tt.rank, tt.code)
			}
			for _, text := range tt.say {
				if !strings.Contains(errs.String(), text) {
					t.Errorf("%q is missing", text)
				}
			}
			if t.Failed() {
				t.Log(errs)
			}
		})
	}
}

// TestCulpritChain follows who blames whom.
func TestCulpritChain(t *testing.T) {
	const no = -1
	for _, tt := range []struct {
		name   string
		blames []int // by rank; rank 0 ended first
		want   int
	}{
		{"nobody", []int{no, no, no}, 0},
		{"one", []int{2, no, no}, 2},
		{"a chain", []int{1, 2, no}, 2},
		{"each other", []int{1, 0, no}, 0},
		{"itself", []int{0, no, no}, 0},
		{"a circle behind it", []int{1, 2, 1}, 0},
		{"somebody unknown", []int{7, no, no}, 0},
	} {
		cfg, _, _ := job(len(tt.blames), "")
		g := &generation{cluster: newCluster(&cfg, hosts.Place(cfg.Hosts), nil)}
		for r, to := range tt.blames {
			st := rankState{ended: true, code: 1, how: "exited with code " + strconv.Itoa(r), after: time.Duration(r)}
			if to != no {
				st.blames = &to
			}
			g.ranks = append(g.ranks, st)
		}
		err := g.culprit(&RankError{Rank: 0, Code: 1})
		if re, ok := errors.AsType[*RankError](err); !ok || re.Rank != tt.want {
			t.Errorf("%s: got %v, want rank %d", tt.name, err, tt.want)
		}
	}
	if err := (&generation{}).culprit(context.Canceled); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}
