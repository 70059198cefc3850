package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What does not exist is refused, with what was probably meant.
func TestDidYouMean(t *testing.T) {
	for args, says := range map[string]string{
		"bnch":                           "did you mean 'bench'?",
		"lanch":                          "did you mean 'launch'?",
		"help bnch":                      "did you mean 'bench'?",
		"help bench extra":               "has no commands of its own",
		"completion tcsh":                "bash fish powershell zsh",
		"bench allreduce --itters 3":     "did you mean --iters?",
		"--wrold-size 2":                 "did you mean --world-size?",
		"topo --host a":                  "did you mean --hosts?",
		"bench allreduce --xyzzy":        "unknown flag --xyzzy",
		"bench allreduce --iters x":      `--iters: "x" is not a whole number`,
		"bench allreduce -n x":           `--ranks: "x" is not a whole number`,
		"bench allreduce --timeout soon": `--timeout: "soon" is not a duration such as 90s or 5m`,
		"bench allreduce --json=maybe":   `--json: "maybe" is not true or false`,
		"bench allreduce --factor 0":     "want 2 or more",
	} {
		res := run(t, strings.Fields(args)...)
		if res.code != exitUsage || !strings.Contains(res.stderr, says) || strings.Contains(res.stderr, "strconv") || res.stdout != "" {
			t.Errorf("thunder %s: exit code %d, %q, %q", args, res.code, res.stdout, res.stderr)
		}
	}
	for _, args := range []string{"help", "help bench", "help completion zsh", "completion"} {
		if res := run(t, strings.Fields(args)...); res.code != exitOK || res.stdout == "" {
			t.Errorf("thunder %s: exit code %d, %q", args, res.code, res.stderr)
		}
	}
}

func TestSimilar(t *testing.T) {
	verbs := []string{"bench", "demo", "doctor", "launch", "topo", "tune"}
	for name, want := range map[string][]string{
		"bnech": {"bench"}, "lunch": {"launch"}, "dem": {"demo"}, "doc": {"doctor"}, "warp": nil, "x": nil, "t": nil,
	} {
		if got := similar(name, verbs); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Output that is lost is a failure, of every verb.
func TestOutputLost(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("SKIPPED: needs /dev/full: %v", err)
	}
	defer full.Close()
	for _, args := range []string{"topo", "env", "--help", "setup --root " + storyDir + "two-macs-one-cable.txtar", "bench barrier --fabric mem --iters 1"} {
		cmd := command(t, strings.Fields(args)...)
		var stderr strings.Builder
		cmd.Stdout, cmd.Stderr = full, &stderr
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("thunder %s: exit code %d, %q", args, code, stderr.String())
		}
	}
}

// Whether an output file can be written is known before the work.
func TestOutputFilesAreTriedFirst(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("needs a directory in which nobody can create files: /proc")
	}
	for args, flag := range map[string]string{
		"bench allreduce --svg /proc/out.svg":      "--svg",
		"demo --plot /proc/out.svg":                "--plot",
		"tune -o /proc/profile.json":               "--output",
		"topo --svg /proc/out.svg":                 "--svg",
		"topo --hostfile /proc/hosts.json":         "--hostfile",
		"doctor --manifest /proc/launch.md":        "--manifest",
		"support-bundle -o /proc/b.tar.gz":         "--output",
		"inspect --html /proc/flight.html /nodump": "--html",
	} {
		res := run(t, strings.Fields(args)...)
		if res.code != exitUsage || res.stdout != "" || !strings.Contains(res.stderr, flag+": /proc/") || !strings.Contains(res.stderr, "cannot be written") {
			t.Errorf("thunder %s: exit code %d, %q, %q", args, res.code, res.stdout, res.stderr)
		}
	}
	// Trying changes nothing.
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.svg")
	if err := os.WriteFile(kept, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{kept, filepath.Join(dir, "new.svg")} {
		if err := writable("--svg", file); err != nil {
			t.Error(err)
		}
	}
	text, _ := os.ReadFile(kept)
	if list, _ := os.ReadDir(dir); len(list) != 1 || string(text) != "kept" {
		t.Errorf("%d files, %q", len(list), text)
	}
}

// A bundle has the machines that answer, and the others are named.
func TestSupportBundleWithoutOneHost(t *testing.T) {
	dir := t.TempDir()
	ssh, file := filepath.Join(dir, "ssh"), filepath.Join(dir, "b.tar.gz")
	script := "#!/bin/sh\nfor a; do case $a in\n*alpha*) echo 'Permission denied (publickey).' >&2; exit 255;;\n*beta*) exec " + program + " support-bundle -o -;;\nesac; done\n"
	if err := os.WriteFile(ssh, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	res := run(t, "support-bundle", "--hosts", "alpha,beta", "--ssh", ssh, "-o", file)
	if res.code != exitFailed || !strings.Contains(res.stderr, "alpha: ") || !strings.Contains(res.stderr, "Permission denied") || !strings.Contains(res.stdout, "Wrote "+file) {
		t.Errorf("exit code %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	if res := run(t, "topo", "--root", file, "--json"); res.code != exitOK || !strings.Contains(res.stdout, `"host"`) {
		t.Errorf("the bundle of the other machine: exit code %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	os.Remove(file)
	if res := run(t, "support-bundle", "--hosts", "alpha", "--ssh", ssh, "-o", file); res.code != exitFailed || !strings.Contains(res.stderr, "alpha: ") {
		t.Errorf("nobody answers: exit code %d, %s", res.code, res.stderr)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a bundle without machines was written")
	}
}

// Undoing nothing says so.
func TestUndoNothing(t *testing.T) {
	res := run(t, "setup", "--undo", "--state", t.TempDir())
	if res.code != exitOK || !strings.Contains(res.stdout, "nothing to undo") {
		t.Errorf("exit code %d, %q, %q", res.code, res.stdout, res.stderr)
	}
}

// Too little address space is a sentence, not a trace of the runtime.
func TestAddressSpace(t *testing.T) {
	for _, c := range []struct{ limit, args, says string }{
		{"1900000", "bench allreduce -n 2", "thunder needs 2 GiB; raise the limit"},
		{"2200000", "bench allreduce -n 2 --max 512MiB", "thunder needs 2 GiB and 256 MiB for buffers; raise the limit"},
		{"2200000", "bench allreduce -n 2 --max 256MiB --fabric mem", "thunder needs 2 GiB and 512 MiB for buffers; raise the limit"},
	} {
		cmd := command(t)
		shell := exec.Command("sh", "-c", "ulimit -v "+c.limit+" && exec "+program+" "+c.args)
		shell.Env = cmd.Env
		out, _ := shell.CombinedOutput()
		if code := shell.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(string(out), c.says) {
			t.Errorf("ulimit -v %s, thunder %s: exit code %d\n%.500s", c.limit, c.args, code, out)
		}
	}
}

// demo leaves no file behind unless it is asked for one.
func TestDemoDrawsOnRequest(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	d := &demo{out: io.Discard}
	if err := d.picture(nil); err != nil {
		t.Fatal(err)
	}
	if list, _ := os.ReadDir(tmp); len(list) != 0 {
		t.Errorf("%v", list)
	}
}
