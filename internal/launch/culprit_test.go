package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/output"
	"thundercollective/internal/launch/wire"
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
	case "is stopped":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
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
		{"aborts", time.Minute, 1, 3, []string{"rank 1 on localhost caused the failure: it exited with code 3", "  rank 1: the reason", "rank 0 on localhost exited with code 1", ", because of rank 1 (rank 1 aborted: a wrong number)"}},
		{"leaves", time.Minute, 1, 3, []string{"rank 1 on localhost caused the failure: it exited with code 3", ", because of rank 1 (lost rank 1 on "}},
		{"leaves well", time.Minute, 0, 1, []string{"rank 0 on localhost failed first: it exited with code 1", ", because of rank 1", "1 rank had succeeded"}},
		{"stays", time.Millisecond, 0, 1, []string{"rank 0 on localhost failed first: it exited with code 1", ", because of rank 1 (rank 1 aborted: a wrong number)", "rank 1 on localhost was killed by SIGTERM"}},
		{"is stopped", time.Millisecond, 0, 1, []string{"rank 0 on localhost failed first: it exited with code 1", ", because of rank 1 (lost rank 1 on ", "no heartbeat for ", "rank 1 on localhost was killed by SIGTERM", " later"}},
	} {
		t.Run(tt.how, func(t *testing.T) {
			t.Parallel()
			cfg, _, errs := job(2, "")
			cfg.Env = append(cfg.Env, "THUNDER_HEARTBEAT_TIMEOUT=1s")
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

// TestCulpritKilled has rank 0 blame one that a signal ended: it failed by itself unless
// the job was being ended, however close together the two ended.
func TestCulpritKilled(t *testing.T) {
	for _, ending := range []bool{false, true} {
		cfg, _, _ := job(2, "")
		g := &generation{cluster: newCluster(&cfg, hosts.Place(cfg.Hosts), nil)}
		to, want := 1, 1
		if ending {
			want = 0
		}
		g.ranks = []rankState{{ended: true, code: 1, how: "exited with code 1", blames: &to}, {ended: true, code: 137, how: "was killed by SIGKILL", ending: ending}}
		err := g.culprit(&RankError{Rank: 0, Code: 1})
		if re, ok := errors.AsType[*RankError](err); !ok || re.Rank != want {
			t.Errorf("ending %v: got %v, want rank %d", ending, err, want)
		}
	}
}

// TestSummaryTimes has ranks end in any order and blame each other: who failed first did
// not fail later than another.
func TestSummaryTimes(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 5))
		cfg, _, errs := job(3, "")
		printer, err := output.New(cfg.Output)
		if err != nil {
			t.Fatal(err)
		}
		g := &generation{cluster: newCluster(&cfg, hosts.Place(cfg.Hosts), printer)}
		for r := range 3 {
			st := rankState{ended: true, code: 1, how: "exited with code 1", after: time.Duration(rng.IntN(2000)) * time.Millisecond}
			if to := rng.IntN(6); to < 3 && to != r {
				st.blames, st.why = &to, "lost it"
			}
			if rng.IntN(3) == 0 {
				st.code, st.how, st.ending = 143, "was killed by SIGTERM", rng.IntN(2) == 0
			}
			g.ranks = append(g.ranks, st)
		}
		for r, st := range g.ranks {
			g.fail(&RankError{Rank: r, Host: "localhost", Code: st.code, How: st.how, After: st.after})
		}
		g.first = g.culprit(g.first)
		g.summarize(g.first)
		text := errs.String()
		if strings.Contains(text, "failed first") == strings.Contains(text, " earlier") || strings.Count(text, "\n") != 3 {
			t.Fatalf("seed %d:\n%s", seed, text)
		}
	}
}

// TestEndsOfOneMachine has the news of the first end take longer than that of the second:
// they stay in the order, and at the distance, that their agent saw.
func TestEndsOfOneMachine(t *testing.T) {
	cfg, _, _ := job(2, "")
	g := &generation{cluster: newCluster(&cfg, hosts.Place(cfg.Hosts), nil), skew: map[int]time.Duration{}, ranks: make([]rankState, 2)}
	const gap = 3 * time.Millisecond
	exit := func(rank int, at, underWay time.Duration) {
		g.started = time.Now().Add(-at - underWay)
		data, err := json.Marshal(wire.Exited{Code: 1 + rank, How: "failed", At: at})
		if err != nil {
			t.Fatal(err)
		}
		g.exited(event{frame: wire.Frame{Kind: wire.KindExited, Rank: rank, Data: data}})
	}
	exit(0, time.Second, time.Minute)
	exit(1, time.Second+gap, 0)
	first, ok := errors.AsType[*RankError](g.first)
	if !ok || first.Rank != 0 || first.After != g.ranks[0].after || g.ranks[1].after-g.ranks[0].after != gap {
		t.Errorf("first is %v after %v; the ends are %v and %v, want %v between them", first, first.After, g.ranks[0].after, g.ranks[1].after, gap)
	}
}
