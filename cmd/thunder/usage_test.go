package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"thundercollective/internal/bench"
	"thundercollective/internal/freeaddr"
)

// Bad input gives exit code 2 immediately, and the error says what would be valid.
func TestBadUsage(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty, hosts := write("empty", "\n"), write("hosts.json", "[[\"127.0.0.1:1\"],\n [7]]")
	list := write("list", "10.0.0.1\n10.0.0.2\n")
	for _, c := range []struct {
		args string
		says []string
	}{
		{"launchpad", []string{"launchpad"}},
		{"benhc", []string{"'bench'"}},
		{"--warp", []string{"--warp"}},
		{"bench", []string{"ping-pong", "matrix"}},
		{"bench allreduce allgather", []string{"one mode"}},
		{"bench warp", []string{"warp", "ping-pong", "alltoall"}},
		{"bench allreduce --algo warp", []string{"--algo", "auto ring biring direct rd hd tree"}},
		{"bench allgather --algo tree", []string{"--algo", "tree", "auto ring"}},
		{"bench allreduce --dtype f8", []string{"--dtype", "f32 f64 f16 bf16"}},
		{"bench allreduce --op mean", []string{"--op", "sum prod min max avg and or xor"}},
		{"bench allreduce --op xor", []string{"--op", "f32", "sum prod min max avg"}},
		{"bench allreduce --dtype bool --op avg", []string{"--op", "bool"}},
		{"bench allreduce --min 4XiB", []string{"--min", "KiB"}},
		{"bench allreduce --max -4", []string{"--max", "negative"}},
		{"bench allreduce --size ten", []string{"--size", "64KiB"}},
		{"bench allreduce --size 4 --max 8", []string{"--size", "--max"}},
		{"bench allreduce --min 8KiB --max 4KiB", []string{"--max", "4 KiB", "8 KiB"}},
		{"bench allreduce --size 1000TiB", []string{"--max", "--size", "memory"}},
		{"bench allreduce --factor 1", []string{"--factor", "2 or more"}},
		{"bench allreduce --iters 0", []string{"--iters"}},
		{"bench allreduce --warmup -2", []string{"--warmup"}},
		{"bench allreduce --num-streams 0", []string{"--num-streams"}},
		{"bench allreduce --num-streams 65", []string{"streams", "1 to 64"}},
		{"bench allreduce --timeout -1s", []string{"--timeout", "90s"}},
		{"bench broadcast -n 2 --root 2", []string{"--root", "0 to 1"}},
		{"bench allreduce -n 0", []string{"--ranks", "want 1 or more"}},
		{"bench allreduce -n 2 --rank 0", []string{"-n", "--rank"}},
		{"bench allreduce -n 3 --edges 0-1,1-2", []string{"-n", "--edges"}},
		{"bench allreduce -n 2 --start-timeout 9s", []string{"-n", "--start-timeout"}},
		{"bench allreduce --token-file " + empty, []string{"--token-file", "--rank", "--coordinator"}},
		{"tune -n 2 --rank 0", []string{"-n", "--rank"}},
		{"tune --insecure", []string{"--insecure", "--rank"}},
		{"bench allreduce --rank 0", []string{"--world-size"}},
		{"bench allreduce --rank 0 --world-size 2 --coordinator 127.0.0.1:7000 --fabric warp", []string{"warp", "auto, tcp"}},
		{"bench allreduce --rank 0 --world-size 2 --coordinator 192.0.2.1:7000", []string{"--token-file", "--insecure"}},
		{"bench allreduce --fabric warp", []string{"--fabric", "auto tcp rdma shm mem"}},
		{"bench allreduce --fabric mem --rank 0 --world-size 2 --addr 127.0.0.1:1 --addr 127.0.0.1:2", []string{"--fabric", "-n"}},
		{"bench allreduce --rank 0 --world-size 2", []string{"--coordinator", "--addr", "--hostfile"}},
		{"bench allreduce --rank 2 --world-size 2 --coordinator 127.0.0.1:7000", []string{"--rank", "0..1"}},
		{"bench allreduce --rank 0 --coordinator 127.0.0.1:7000", []string{"--world-size"}},
		{"bench allreduce --rank 0 --world-size 2 --coordinator nowhere", []string{"--coordinator", "nowhere"}},
		{"bench allreduce --rank 0 --world-size 3 --addr 127.0.0.1:1 --addr 127.0.0.1:2", []string{"--addr", "3"}},
		{"bench allreduce --rank 0 --hostfile " + dir + "/none", []string{"--hostfile", "none"}},
		{"bench allreduce --rank 0 --world-size 2 --hostfile " + dir + "/none", []string{"--hostfile", "none"}},
		{"bench allreduce --rank 0 --hostfile " + list, []string{"list:1", "is not JSON", "addrs", "thunder topo"}},
		{"bench allreduce --rank 0 --hostfile " + hosts, []string{"hosts.json", "2"}},
		{"bench allreduce --rank 0 --world-size 2 --coordinator 127.0.0.1:1 --token-file " + dir + "/none", []string{"--token-file"}},
		{"bench allreduce --rank 0 --world-size 2 --coordinator 127.0.0.1:1 --token-file " + empty, []string{"--token-file", "empty"}},
		{"bench allreduce --svg /nonexistent/out.svg", []string{"--svg", "/nonexistent"}},
		{"bench allreduce --svg " + dir, []string{"--svg", "directory"}},
		{"demo --plot /nonexistent/tour.svg", []string{"--plot", "/nonexistent"}},
		{"tune -o /nonexistent/profile.json", []string{"--output", "/nonexistent"}},
		{"topo --svg /nonexistent/cables.svg", []string{"--svg", "/nonexistent"}},
		{"topo --hostfile " + dir, []string{"--hostfile", "directory"}},
		{"doctor --manifest /nonexistent/launch.md", []string{"--manifest", "/nonexistent"}},
		{"inspect --html /nonexistent/flight.html " + dir, []string{"--html", "/nonexistent"}},
		{"support-bundle -o /nonexistent/bundle.tar.gz", []string{"--output", "/nonexistent"}},
		{"launch -n 0 true", []string{"-n", "1 or more"}},
		{"launch --grace -1s true", []string{"--grace", "negative"}},
		{"launch --hosts= true", []string{"--hosts", "empty"}},
		{"launch --hostfile= true", []string{"--hostfile", "empty"}},
		{"topo --hosts=", []string{"--hosts", "empty"}},
		{"doctor --root=", []string{"--root", "empty"}},
		{"setup --apply --hosts=", []string{"--hosts", "empty"}},
		{"support-bundle --hosts=", []string{"--hosts", "empty"}},
		{"--mode warp", []string{"warp", "ping-pong"}},
		{"--rank 5 --world-size 2 --addr 127.0.0.1:1 --addr 127.0.0.1:2", []string{"--rank", "0..1"}},
		{"demo -n 100", []string{"-n", "1 to 16"}},
		{"demo extra", []string{"extra"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			res := run(t, strings.Fields(c.args)...)
			if res.code != exitUsage || res.stdout != "" {
				t.Errorf("exit code %d, want %d; printed %q, %q", res.code, exitUsage, res.stdout, res.stderr)
			}
			for _, want := range append(c.says, "--help") {
				if !strings.Contains(res.stderr, want) {
					t.Errorf("%q is not in %q", want, res.stderr)
				}
			}
		})
	}
}

// An invalid variable is bad input too, and is reported once.
func TestBadVariables(t *testing.T) {
	for _, c := range []struct{ name, value, says string }{
		{"THUNDER_LOG", "loud", "off, warn, info or debug"},
		{"THUNDER_TIMEOUT", "-1s", "90s"},
		{"THUNDER_CHECKSUM", "maybe", "1 or 0"},
		{"THUNDER_PROFILE", "/nonexistent/profile.json", "thunder tune"},
		{"THUNDER_METRICS", "warp", "host:port"},
		{"THUNDER_FABRIC", "warp", "auto"},
		{"THUNDER_START_TIMEOUT", "soon", "1m30s"},
		{"THUNDER_TOKEN_FILE", "/nonexistent/token", "no such file"},
		{"THUNDER_DUMP_DIR", "/dev/null/flight", "flight recorder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := command(t, "bench", "allreduce", "--size", "4")
			cmd.Env = append(cmd.Env, c.name+"="+c.value)
			res := finish(t, cmd)
			if res.code != exitUsage || res.stdout != "" || strings.Count(res.stderr, c.says) != 1 {
				t.Errorf("exit code %d, want %d; printed %q, %q", res.code, exitUsage, res.stdout, res.stderr)
			}
		})
	}
}

// A misspelt variable is refused by every verb; what is nothing like ours is not.
func TestMisspeltEnv(t *testing.T) {
	for _, verb := range newRootCmd().Commands() {
		if verb.Name() == "completion" || verb.Name() == "help" || verb.Name() == "env" {
			continue
		}
		t.Run(verb.Name(), func(t *testing.T) {
			args := []string{verb.Name()}
			if verb.Name() == "bench" {
				args = append(args, "barrier")
			}
			cmd := command(t, args...)
			cmd.Env = append(cmd.Env, "THUNDER_TIMOUT=1s")
			res := finish(t, cmd)
			if res.code != exitUsage || res.stdout != "" || !strings.Contains(res.stderr, "THUNDER_TIMOUT is no variable of thunder; did you mean THUNDER_TIMEOUT?") {
				t.Errorf("exit code %d, want %d; printed %q, %q", res.code, exitUsage, res.stdout, res.stderr)
			}
		})
	}
	if res := run(t, "launch", "--env", "THUNDER_TIMOUT=1s", "true"); res.code != exitUsage || !strings.Contains(res.stderr, "--env: THUNDER_TIMOUT is no variable") {
		t.Errorf("launch --env: exit code %d, %q", res.code, res.stderr)
	}
	cmd := command(t, "bench", "barrier", "-n", "2", "--fabric", "tcp", "--iters", "1")
	cmd.Env = append(cmd.Env, "THUNDER_"+"SERVICE_HOST=10.0.0.1", "THUNDER_"+"SKY_COLOUR=blue")
	if res := finish(t, cmd); res.code != exitOK || strings.Count(res.stderr, "THUNDER_") != 1 || !strings.Contains(res.stderr, "SKY_COLOUR is no variable") {
		t.Errorf("exit code %d, want 0 and one warning; printed %q", res.code, res.stderr)
	}
}

// A failure with a valid command line gives exit code 1.
func TestFailures(t *testing.T) {
	alone, astray := freeaddr.Loopback(t, 2), filepath.Join(t.TempDir(), "astray.svg")
	if err := os.Symlink("/nonexistent/out.svg", astray); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"bench allreduce --fabric mem --max 4 --iters 1 --svg " + astray:                                                astray,
		"bench allreduce --rank 1 --world-size 2 --coordinator 127.0.0.1:1 --start-timeout 200ms":                       "127.0.0.1:1",
		"bench allreduce --rank 0 --world-size 2 --addr " + alone[0] + " --addr " + alone[1] + " --start-timeout 200ms": "--start-timeout",
	} {
		res := run(t, strings.Fields(args)...)
		if res.code != exitFailed || !strings.Contains(res.stderr, want) || res.stderr == "" {
			t.Errorf("thunder %s: exit code %d, %q", args, res.code, res.stderr)
		}
	}
}

func TestHelpOfEveryVerb(t *testing.T) {
	res := run(t)
	if res.code != 0 || !strings.Contains(res.stdout, "thunder demo") {
		t.Errorf("exit code %d\n%s", res.code, res.stdout)
	}
	for _, cmd := range newRootCmd().Commands() {
		if cmd.Hidden {
			continue
		}
		if cmd.Long == "" || cmd.Example == "" {
			t.Errorf("%s has no description or no example", cmd.Name())
		}
		if res := run(t, cmd.Name(), "--help"); res.code != 0 || !strings.Contains(res.stdout, "Examples:") {
			t.Errorf("%s --help: exit code %d\n%s", cmd.Name(), res.code, res.stdout)
		}
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if res := run(t, "completion", shell); res.code != 0 || len(res.stdout) < 1000 {
			t.Errorf("%s: exit code %d, %d bytes", shell, res.code, len(res.stdout))
		}
	}
	res := run(t, "__complete", "bench", "")
	for _, m := range bench.Modes() {
		if !strings.Contains(res.stdout, string(m)+"\t") {
			t.Errorf("%s is not completed in %q", m, res.stdout)
		}
	}
	for flag, want := range map[string]string{"--algo": "biring", "--dtype": "bf16", "--op": "xor", "--fabric": "mem"} {
		if res := run(t, "__complete", "bench", "allreduce", flag, ""); !strings.Contains(res.stdout, want) {
			t.Errorf("%s is not completed: %q", flag, res.stdout)
		}
	}
	if res := run(t, "__complete", "--mode", "all"); !strings.Contains(res.stdout, "alltoall") {
		t.Errorf("--mode is not completed: %q", res.stdout)
	}
}

func TestVersion(t *testing.T) {
	if res := run(t, "--version"); res.code != 0 || !strings.HasPrefix(res.stdout, "thunder version ") || !strings.Contains(res.stdout, " kernels ") {
		t.Errorf("exit code %d, %q", res.code, res.stdout)
	}
	info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	if got := describe(info, "go"); !strings.HasPrefix(got, "v1.2.3 (commit 0123456789ab of 2026-01-02T03:04:05Z, with changes) go") {
		t.Errorf("got %q", got)
	}
	if got := describe(&debug.BuildInfo{}, "go"); !strings.HasPrefix(got, "devel go") {
		t.Errorf("got %q", got)
	}
}
