package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"thundercollective/internal/doctor"
	"thundercollective/internal/setup/netnstest"
	"thundercollective/internal/topology"
)

// fakeSSH enters the namespace of a host instead of logging in there. What the
// kernel of this machine cannot know, that the veth pairs are Thunderbolt cables,
// it answers from a prepared report; everything else is run for real. Each host
// has a state folder of its own under the same name.
const fakeSSH = `#!/bin/sh
while [ "$1" != "--" ]; do shift; done
host=$2 script=$3
case "$script" in
*" topo --json"*) exec cat "%[1]s/$host.json" ;;
esac
exec ip netns exec "$(cat "%[1]s/$host.ns")" sh -c 'mount --bind "$0" "$1" && eval "$2"' "%[1]s/state-$host" "%[1]s/state" "$script"
`

type fakeCluster struct {
	t   *testing.T
	lab *netnstest.Lab
	dir string
}

func newFakeCluster(t *testing.T) *fakeCluster {
	t.Helper()
	c := &fakeCluster{t: t, lab: netnstest.New(t), dir: t.TempDir()}
	c.write("ssh", fmt.Sprintf(fakeSSH, c.dir), 0o755)
	for i := range 2 {
		c.write(fmt.Sprintf("lab%d.ns", i), c.lab.NS[i], 0o600)
		if err := os.Mkdir(filepath.Join(c.dir, fmt.Sprintf("state-lab%d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(c.dir, "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.look()
	return c
}

func (c *fakeCluster) write(name, text string, mode os.FileMode) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), mode); err != nil {
		c.t.Fatal(err)
	}
}

// look prepares the reports again, from the current state of the namespaces.
func (c *fakeCluster) look() {
	c.t.Helper()
	for i, m := range c.lab.Machines(10) {
		b, err := json.Marshal(map[string]any{"machines": []any{m}})
		if err != nil {
			c.t.Fatal(err)
		}
		c.write(fmt.Sprintf("lab%d.json", i), string(b), 0o600)
	}
}

func (c *fakeCluster) run(args ...string) result {
	c.t.Helper()
	return run(c.t, append(args, "--hosts", "lab0,lab1", "--ssh", filepath.Join(c.dir, "ssh"), "--thunder", program)...)
}

// The whole story on two machines made of namespaces: found broken, set up, proved
// with the real benchmark over both cables, written down, and undone.
func TestBringUp(t *testing.T) {
	c := newFakeCluster(t)
	before := [2]string{c.lab.Picture(0), c.lab.Picture(1)}
	state := filepath.Join(c.dir, "state")

	if r := c.run("doctor"); r.code != 1 || !strings.Contains(r.stdout, "tb1 is in br0") || !strings.Contains(r.stdout, "thunder setup --hosts lab0,lab1 --sudo --apply") {
		t.Fatalf("doctor before: %+v", r)
	}
	if r := c.run("setup"); r.code != 0 || !strings.Contains(r.stdout, "Nothing was changed") {
		t.Fatalf("setup without --apply: %+v", r)
	}
	c.lab.Same(0, before[0])
	if r := c.run("setup", "--apply", "--persist", "none", "--state", state); r.code != 0 {
		t.Fatalf("setup --apply: %+v", r)
	}

	c.look()
	page := filepath.Join(c.dir, "manifest.html")
	r := c.run("doctor", "--json", "--max", "1MiB", "--manifest", page)
	var report doctor.Report
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatalf("doctor after: %v %+v", err, r)
	}
	if len(report.Measurements) != 2 {
		t.Fatalf("%d measurements for two cables: %+v", len(report.Measurements), r)
	}
	for _, m := range report.Measurements {
		if m.Err != "" || m.Skipped != "" || len(m.Rows) < 3 || m.Transport != topology.OverTCP {
			t.Errorf("measurement %+v", m)
		}
	}
	for _, check := range report.Checks {
		// How fast namespaces are is not what is tested.
		if check.Status == doctor.Fail && check.ID != "cable.throughput" {
			t.Errorf("after setup: %+v", check)
		}
	}
	if _, err := os.Stat(page); err != nil {
		t.Error(err)
	}

	if r := c.run("setup", "--undo", "--persist", "none", "--state", state); r.code != 0 {
		t.Fatalf("setup --undo: %+v", r)
	}
	for i := range 2 {
		c.lab.Same(i, before[i])
	}
}

// Two versions of thunder with different report formats are detected.
func TestOtherVersionThere(t *testing.T) {
	c := newFakeCluster(t)
	c.write("lab1.json", `{"machines":[{"schema":999}]}`, 0o600)
	if r := c.run("topo"); r.code != 1 || !strings.Contains(r.stderr, "same version") {
		t.Errorf("%+v", r)
	}
	c.write("lab1.json", `hello`, 0o600)
	if r := c.run("topo"); r.code != 1 || !strings.Contains(r.stderr, "not JSON") {
		t.Errorf("%+v", r)
	}
}
