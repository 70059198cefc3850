package main

import (
	"encoding/json"
	"strings"
	"testing"

	"thundercollective/internal/env"
)

// inEnv runs thunder env with variables.
func inEnv(t *testing.T, vars []string, args ...string) result {
	t.Helper()
	cmd := command(t, append([]string{"env"}, args...)...)
	cmd.Env = append(cmd.Env, vars...)
	return finish(t, cmd)
}

func TestEnv(t *testing.T) {
	res := inEnv(t, []string{"THUNDER_FABRIC=tcp", "THUNDER_TOKEN=" + strings.Repeat("k", 44)})
	if res.code != exitOK || res.stderr != "" || strings.Contains(res.stdout, "kkk") || strings.Contains(res.stdout, "THUNDER_SOAK") {
		t.Errorf("exit code %d, %q\n%s", res.code, res.stderr, res.stdout)
	}
	for _, want := range []string{"variable ", "THUNDER_FABRIC ", " tcp ", "environment", "set, 44 bytes", "5m0s", "default", "not set", "time limit of every operation"} {
		if !strings.Contains(res.stdout, want) {
			t.Errorf("%q is not in\n%s", want, res.stdout)
		}
	}
	for line := range strings.Lines(res.stdout) {
		if len(line) > 180 {
			t.Errorf("long line: %s", line)
		}
	}
	if res := inEnv(t, nil, "--all"); res.code != exitOK || !strings.Contains(res.stdout, "THUNDER_SOAK") {
		t.Errorf("--all: exit code %d\n%s", res.code, res.stdout)
	}
}

func TestEnvJSON(t *testing.T) {
	res := inEnv(t, []string{"THUNDER_RANK=one", "THUNDER_" + "TOKN=sturgeon"}, "--json")
	var got struct{ Variables []env.Setting }
	if err := json.Unmarshal([]byte(res.stdout), &got); err != nil || res.code != exitUsage {
		t.Fatalf("exit code %d, %v\n%s", res.code, err, res.stdout)
	}
	found := 0
	for _, s := range got.Variables {
		switch s.Name {
		case env.Rank:
			found++
			if s.Value != "one" || s.Source != env.Environment || !strings.Contains(s.Problem, "0 to 4095") {
				t.Errorf("got %+v", s)
			}
		case "THUNDER_" + "TOKN":
			found++
			if s.Value != "set, 8 bytes" || !strings.Contains(s.Problem, "THUNDER_TOKEN?") {
				t.Errorf("got %+v", s)
			}
		}
	}
	if found != 2 || strings.Contains(res.stdout+res.stderr, "sturgeon") {
		t.Errorf("%d of 2 found, or a secret printed\n%s", found, res.stdout)
	}
}

// A bad variable is marked, and named on standard error.
func TestEnvBad(t *testing.T) {
	res := inEnv(t, []string{"THUNDER_TIMOUT=1s", "THUNDER_LOG=loud"})
	if res.code != exitUsage || !strings.Contains(res.stdout, "! THUNDER_LOG ") || !strings.Contains(res.stdout, "! THUNDER_TIMOUT ") ||
		!strings.Contains(res.stderr, `THUNDER_LOG is "loud": give off, warn, info or debug`) || !strings.Contains(res.stderr, "did you mean THUNDER_TIMEOUT?") {
		t.Errorf("exit code %d, %q\n%s", res.code, res.stderr, res.stdout)
	}
}

// The launcher's variables are said to be the launcher's.
func TestEnvLaunched(t *testing.T) {
	cmd := command(t, "launch", "-n", "2", "--tag", "off", "--quiet-ranks=1", "--", program, "env")
	cmd.Env = append(cmd.Env, "THUNDER_LOG=info")
	res := finish(t, cmd)
	if res.code != exitOK {
		t.Fatalf("exit code %d, %q\n%s", res.code, res.stderr, res.stdout)
	}
	for name, want := range map[string]string{env.WorldSize: "2 launcher", env.Log: "info environment", env.Checksum: "0 default", env.Profile: "not set"} {
		found := false
		for line := range strings.Lines(res.stdout) {
			if f := strings.Join(strings.Fields(line), " "); strings.HasPrefix(f, name+" "+want) {
				found = true
			}
		}
		if !found {
			t.Errorf("no line %s %s in\n%s", name, want, res.stdout)
		}
	}
}

func TestEnvCompletion(t *testing.T) {
	if res := run(t, "__complete", "e"); !strings.Contains(res.stdout, "env\t") {
		t.Errorf("the verb is not completed: %q", res.stdout)
	}
	if res := run(t, "__complete", "env", "--"); !strings.Contains(res.stdout, "--json") || !strings.Contains(res.stdout, "--all") {
		t.Errorf("flags are not completed: %q", res.stdout)
	}
}

// Old names of flags and variables still work, and the new ones are mentioned once.
func TestEnvOldNames(t *testing.T) {
	for _, c := range []struct {
		vars []string
		args string
		hint string
	}{
		{nil, "bench barrier -n 2 --iters 1 --apart --json", "thunder bench: --apart is now called --barrier-each"},
		{nil, "launch --silence 2s true", "thunder launch: --silence is now called --heartbeat-timeout"},
		{[]string{"THUNDER_SILENCE=20s"}, "bench barrier -n 2 --iters 1 --json", "THUNDER_SILENCE is now called THUNDER_HEARTBEAT_TIMEOUT"},
	} {
		t.Run(c.args, func(t *testing.T) {
			cmd := command(t, strings.Fields(c.args)...)
			cmd.Env = append(cmd.Env, c.vars...)
			res := finish(t, cmd)
			if res.code != exitOK || strings.Count(res.stderr, "\n") != 1 || !strings.Contains(res.stderr, c.hint) || strings.Contains(res.stdout, "is now called") {
				t.Errorf("exit code %d, %q, %q", res.code, res.stdout, res.stderr)
			}
		})
	}
	if res := run(t, "launch", "--silence", "-2s", "true"); res.code != exitUsage || !strings.Contains(res.stderr, "--heartbeat-timeout: -2s is negative") {
		t.Errorf("exit code %d, %q", res.code, res.stderr)
	}
	for _, verb := range []string{"bench", "launch"} {
		if res := run(t, verb, "--help"); strings.Contains(res.stdout, "--apart") || strings.Contains(res.stdout, "--silence") {
			t.Errorf("an old flag is in the help of %s", verb)
		}
	}
}
