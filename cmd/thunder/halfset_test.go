package main

import (
	"strings"
	"testing"
)

// TestHalfSetEnvironment: an environment that has only some of the variables of a rank is
// refused, with those that are missing, and no ranks are started here instead.
func TestHalfSetEnvironment(t *testing.T) {
	for _, tt := range []struct {
		env  []string
		want []string
	}{
		{[]string{"THUNDER_WORLD_SIZE=2"}, []string{"THUNDER_WORLD_SIZE", "THUNDER_COORDINATOR", "THUNDER_RANK"}},
		{[]string{"THUNDER_RANK=0"}, []string{"THUNDER_RANK", "THUNDER_WORLD_SIZE", "THUNDER_COORDINATOR"}},
		{[]string{"THUNDER_RANK=1"}, []string{"THUNDER_RANK", "THUNDER_WORLD_SIZE", "THUNDER_COORDINATOR"}},
		{[]string{"THUNDER_RANK=0", "THUNDER_WORLD_SIZE=2"}, []string{"THUNDER_WORLD_SIZE", "THUNDER_COORDINATOR"}},
		{[]string{"RANK=0", "WORLD_SIZE=2"}, []string{"without MASTER_ADDR and MASTER_PORT"}},
		{[]string{"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1"}, []string{"without MASTER_PORT"}},
	} {
		t.Run(strings.Join(tt.env, " "), func(t *testing.T) {
			cmd := command(t, append([]string{"bench", "allreduce"}, small...)...)
			cmd.Env = append(cmd.Env, tt.env...)
			res := finish(t, cmd)
			if res.code != exitUsage || res.stdout != "" {
				t.Errorf("exit code %d\n%s%s", res.code, res.stdout, res.stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(res.stderr, want) {
					t.Errorf("%q is not in %s", want, res.stderr)
				}
			}
		})
	}
}
