package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"thundercollective/internal/launch/hosts"

	"github.com/spf13/cobra"
)

func TestParseRanks(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []int
		bad  bool
	}{
		{in: ""},
		{in: "0", want: []int{0}},
		{in: "1-", want: []int{1, 2, 3, 4}},
		{in: "0,2-3", want: []int{0, 2, 3}},
		{in: "3-99", want: []int{3, 4}},
		{in: "7"},
		{in: "x", bad: true},
		{in: "-1", bad: true},
		{in: "3-1", bad: true},
		{in: "1,,2", bad: true},
		{in: "1-x", bad: true},
	} {
		got, err := parseRanks(tt.in, 5)
		if (err != nil) != tt.bad || !slices.Equal(got, tt.want) {
			t.Errorf("parseRanks(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
		}
	}
}

// launchConfig parses a command line of launch.
func launchConfig(t *testing.T, line string) (*launchFlags, *cobra.Command, []string) {
	t.Helper()
	f := &launchFlags{}
	cmd := &cobra.Command{}
	f.add(cmd)
	if err := cmd.ParseFlags(strings.Fields(line)); err != nil {
		t.Fatal(err)
	}
	return f, cmd, cmd.Flags().Args()
}

func TestLaunchConfig(t *testing.T) {
	hostfile := filepath.Join(t.TempDir(), "hosts.json")
	text := `{"backend": "jaccl", "envs": ["FILE=1"], "port": 700, "hosts": [{"ssh": "a", "ips": ["10.0.0.1"]}, {"ssh": "b", "slots": 2}]}`
	if err := os.WriteFile(hostfile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LAUNCH_TEST", "passed on")
	for _, tt := range []struct {
		line  string
		hosts []hosts.Host
		argv  string
		env   string // joined by commas
		port  int
	}{
		{"-n 4 -- prog -n 7", []hosts.Host{{Name: "localhost", Slots: 4}}, "prog -n 7", "", 0},
		{"train.py --lr 3 -n 2", []hosts.Host{{Name: "localhost", Slots: 1}}, "train.py --lr 3 -n 2", "", 0},
		{"--hosts a,b:3 -n 2 --env K=V --env LAUNCH_TEST prog", []hosts.Host{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}}, "prog", "K=V,LAUNCH_TEST=passed on", 0},
		{"--hostfile " + hostfile + " --env K=V prog", []hosts.Host{{Name: "a", Slots: 1, Addrs: []string{"10.0.0.1"}}, {Name: "b", Slots: 2}}, "prog", "FILE=1,MLX_DISTRIBUTED_BACKEND=jaccl,K=V", 700},
		{"--hostfile " + hostfile + " --port 800 prog", []hosts.Host{{Name: "a", Slots: 1, Addrs: []string{"10.0.0.1"}}, {Name: "b", Slots: 2}}, "prog", "FILE=1,MLX_DISTRIBUTED_BACKEND=jaccl", 800},
	} {
		f, cmd, args := launchConfig(t, tt.line)
		cfg, err := f.config(cmd, args)
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		same := slices.EqualFunc(cfg.Hosts, tt.hosts, func(a, b hosts.Host) bool {
			return a.Name == b.Name && a.Slots == b.Slots && slices.Equal(a.Addrs, b.Addrs)
		})
		if !same || strings.Join(cfg.Argv, " ") != tt.argv || strings.Join(cfg.Env, ",") != tt.env || cfg.Port != tt.port {
			t.Errorf("%s: got %+v, %q, %q, port %d", tt.line, cfg.Hosts, cfg.Argv, cfg.Env, cfg.Port)
		}
	}
}
