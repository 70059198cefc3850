package sshrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeSSH runs the script that is meant for the host, after checking that it was called
// like ssh.
const fakeSSH = `#!/bin/sh
case "$*" in *"BatchMode=yes"*) ;; *) echo "not in batch mode" >&2; exit 9 ;; esac
while [ "$1" != "--" ]; do shift; done
[ "$2" = gone ] && { echo "ssh: connect to host gone port 22: No route to host" >&2; exit 255; }
exec sh -c "$3"
`

// fakeThunder prints how it was called.
const fakeThunder = `#!/bin/sh
case "$1" in
topo) echo '{"machines":[{"schema":1,"host":"its-own-name"}]}' ;;
*) echo "$# args: $*"; cat ;;
esac
`

func fakeRunner(t *testing.T) *Runner {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"ssh": fakeSSH, "thunder": fakeThunder} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &Runner{SSH: []string{filepath.Join(dir, "ssh")}, Self: filepath.Join(dir, "thunder")}
}

func TestThunder(t *testing.T) {
	r := fakeRunner(t)
	for _, host := range []string{"far", "localhost"} {
		out, err := r.Thunder(t.Context(), host, []byte("input\n"), "say", `it's "quoted" $HOME`, "")
		if want := "3 args: say it's \"quoted\" $HOME \ninput\n"; err != nil || string(out) != want {
			t.Errorf("%s: %q %v", host, out, err)
		}
	}
	out, err := r.Command(t.Context(), "far", "printf", "%s|", "a b", "c")
	if err != nil || string(out) != "a b|c|" {
		t.Errorf("%q %v", out, err)
	}
}

func TestMachines(t *testing.T) {
	r := fakeRunner(t)
	ms := r.Machines(t.Context(), []string{"user@near", "gone"})
	if ms[0].Host != "near" || ms[0].SSH != "user@near" || ms[0].Lost != "" {
		t.Errorf("%+v", ms[0])
	}
	if ms[1].Host != "gone" || !strings.Contains(ms[1].Lost, "No route to host") {
		t.Errorf("%+v", ms[1])
	}
}

func TestNotInstalledThere(t *testing.T) {
	r := fakeRunner(t)
	r.Self, r.RemotePath = "", "/nowhere/thunder"
	t.Setenv("PATH", "/usr/bin:/bin")
	if _, err := r.Thunder(t.Context(), "far", nil, "topo"); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("error %v", err)
	}
}
