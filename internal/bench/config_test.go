package bench

import (
	"errors"
	"slices"
	"strings"
	"testing"

	thunder "thundercollective"
)

func TestValidate(t *testing.T) {
	for _, m := range Modes() {
		if err := (Config{Mode: m}).Validate(1); err != nil {
			t.Errorf("%s with defaults: %v", m, err)
		}
		for _, a := range m.Algos() {
			if err := (Config{Mode: m, Algo: a}).Validate(3); err != nil {
				t.Errorf("%s with %v: %v", m, a, err)
			}
		}
	}
	for _, c := range []struct {
		cfg   Config
		ranks int
		field string
		says  string
	}{
		{Config{}, 1, "mode", "allreduce"},
		{Config{Mode: "allreduced"}, 1, "mode", "allreduce"},
		{Config{Mode: AllReduce, DType: 99}, 2, "dtype", "element type"},
		{Config{Mode: AllReduce, DType: thunder.F32, Op: thunder.Xor}, 2, "op", "sum prod min max avg"},
		{Config{Mode: Reduce, DType: thunder.Bool, Op: thunder.Avg}, 2, "op", "sum prod min max and or xor"},
		{Config{Mode: AllGather, Algo: thunder.Tree}, 2, "algo", "auto ring"},
		{Config{Mode: PingPong, Algo: thunder.Ring}, 2, "algo", "auto"},
		{Config{Mode: AllReduce, Algo: 99}, 2, "algo", "auto ring"},
		{Config{Mode: Broadcast, Root: 2}, 2, "root", "0 to 1"},
		{Config{Mode: Broadcast, Root: -1}, 2, "root", "0 to 1"},
		{Config{Mode: AllReduce}, 0, "ranks", "want 1 or more"},
		{Config{Mode: AllReduce, Min: -1}, 2, "min", "want 0 or more"},
		{Config{Mode: AllReduce, Min: 8, Max: 4}, 2, "max", "4 B"},
		{Config{Mode: AllReduce, Factor: 1}, 2, "factor", "2 or more"},
		{Config{Mode: AllReduce, Iters: -1}, 2, "iters", "0 for a number that suits"},
	} {
		err := c.cfg.Validate(c.ranks)
		var bad *ConfigError
		if !errors.As(err, &bad) || bad.Field != c.field || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v on %d ranks: got %v, want one about %s that says %q", c.cfg, c.ranks, err, c.field, c.says)
		}
	}
	// A root or reduction that the mode does not use is of no concern.
	if err := (Config{Mode: AllGather, Root: 7, DType: thunder.F32, Op: thunder.Xor}).Validate(2); err != nil {
		t.Error(err)
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		cfg   Config
		ranks int
		want  []shape
	}{
		{Config{Mode: AllReduce, Min: 4, Max: 64}, 3, []shape{{1, 4}, {4, 16}, {16, 64}}},
		{Config{Mode: AllReduce, DType: thunder.F64, Min: 1, Max: 16, Factor: 2}, 3, []shape{{1, 8}, {2, 16}}},
		{Config{Mode: AllGather, Min: 4, Max: 64}, 3, []shape{{1, 12}, {2, 24}, {6, 72}}},
		{Config{Mode: AllToAll, DType: thunder.I8, Min: 0, Max: 4, Factor: 2}, 2, []shape{{0, 0}, {1, 2}, {2, 4}}},
		{Config{Mode: Barrier, Min: 4, Max: 64}, 3, []shape{{0, 0}}},
		{Config{Mode: SendRecv}, 3, []shape{{0, 0}}},
	} {
		c.cfg.fill()
		if got := c.cfg.shapes(c.ranks); !slices.Equal(got, c.want) {
			t.Errorf("%+v on %d ranks: %v, want %v", c.cfg, c.ranks, got, c.want)
		}
		if got := c.cfg.Rows(c.ranks); got != len(c.want) {
			t.Errorf("%+v: %d rows announced, %d measured", c.cfg, got, len(c.want))
		}
	}
	if got := (Config{Mode: Matrix}).Rows(4); got != 12 {
		t.Errorf("matrix of 4 ranks has %d rows", got)
	}
}

func TestParseMode(t *testing.T) {
	for _, m := range Modes() {
		if got, err := ParseMode(string(m)); err != nil || got != m {
			t.Errorf("ParseMode(%q) = %q, %v", m, got, err)
		}
		if m.About() == "" {
			t.Errorf("%s has no description", m)
		}
	}
	if _, err := ParseMode("warp"); err == nil || !strings.Contains(err.Error(), "ping-pong") {
		t.Errorf("got %v, want an error that lists the modes", err)
	}
	if got := Collectives(); len(got) != len(Modes())-2 || slices.Contains(got, Matrix) {
		t.Errorf("collectives: %v", got)
	}
}
