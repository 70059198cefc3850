package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"thundercollective/internal/doctor"
	"thundercollective/internal/rendezvous"
	"thundercollective/internal/setup"
)

const storyDir = "../../internal/doctor/testdata/stories/"

func TestTopoOutputs(t *testing.T) {
	story := storyDir + "four-macs-mesh-lacks-one.txtar"
	if r := run(t, "topo", "--root", story); r.code != 0 || !strings.Contains(r.stdout, "plug studio-c port 4 into studio-d port 4") {
		t.Errorf("table: %+v", r)
	}
	r := run(t, "topo", "--root", story, "--json")
	var g struct {
		Shape  struct{ Name string }
		Cables []any
	}
	if err := json.Unmarshal([]byte(r.stdout), &g); err != nil || g.Shape.Name != "ring" || len(g.Cables) != 5 {
		t.Errorf("JSON: %v %+v", err, g)
	}
	if r := run(t, "topo", "--root", story, "--dot"); !strings.HasPrefix(r.stdout, "graph cabling {") {
		t.Errorf("dot: %+v", r)
	}
	if r := run(t, "topo", "--root", story, "--svg", "-"); !strings.HasPrefix(r.stdout, "<svg ") {
		t.Errorf("svg: %.200s", r.stdout)
	}
	file := filepath.Join(t.TempDir(), "hosts.json")
	if r := run(t, "topo", "--root", story, "--hostfile", file); r.code != 0 {
		t.Fatalf("hostfile: %+v", r)
	}
	if h, err := rendezvous.ReadHostfile(file); err != nil || h.Size() != 4 {
		t.Errorf("hostfile: %v", err)
	}
}

// Three exit codes tell working, broken and not present apart.
func TestDoctorExitCodes(t *testing.T) {
	for story, want := range map[string]int{
		"two-macs-one-cable": 0, "thunderbolt-4-rdma-enabled": 0, "bridge-holds-the-port": 1, "connectx-at-x1": 1, "nothing-to-cable": 3,
	} {
		if r := run(t, "doctor", "--root", storyDir+story+".txtar"); r.code != want {
			t.Errorf("%s: exit code %d, want %d\n%s", story, r.code, want, r.stdout)
		}
	}
}

// This machine, whatever it has, gets a plain answer.
func TestDoctorHere(t *testing.T) {
	r := run(t, "doctor", "--json")
	var report doctor.Report
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatalf("%v\n%+v", err, r)
	}
	m := report.Graph.Machines[0]
	if m.Thunderbolt.Controllers == 0 && len(m.RDMA.Devices) == 0 {
		if r.code != 3 || report.Verdict.Name != doctor.Nothing {
			t.Errorf("nothing is here, and yet: exit code %d, %s", r.code, report.Verdict.Sentence)
		}
	}
}

func TestManifestFiles(t *testing.T) {
	dir := t.TempDir()
	md, html := filepath.Join(dir, "m.md"), filepath.Join(dir, "m.html")
	r := run(t, "doctor", "--root", storyDir+"everything-at-once.txtar", "--manifest", md, "--manifest", html, "-q")
	if r.code != 1 || strings.Contains(r.stdout, "PASS") {
		t.Errorf("%+v", r)
	}
	for file, want := range map[string]string{md: "# Launch manifest", html: "<!doctype html>"} {
		b, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(b), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestClusterUsage(t *testing.T) {
	for args, says := range map[string]string{
		"topo --root nowhere":                                  "nowhere",
		"topo --root x --hosts a":                              "one or the other",
		"topo --form xml --root " + storyDir:                   "want thunder or mlx",
		"topo --hosts -x":                                      "dash",
		"doctor --manifest out.pdf":                            ".md or .html",
		"setup --apply --undo":                                 "one or the other",
		"setup --apply --json":                                 "changes nothing",
		"setup --undo --json":                                  "changes nothing",
		"setup --plan /nowhere":                                "nowhere",
		"setup --persist cron --undo --state /nonexistent-dir": "cron",
		"setup --topo /nowhere":                                "nowhere",
		"setup --apply --root " + storyDir:                     "captured",
		"support-bundle --root nowhere":                        "nowhere",
	} {
		if r := run(t, strings.Fields(args)...); r.code != 2 || !strings.Contains(r.stderr, says) {
			t.Errorf("thunder %s: exit code %d, %q does not say %q", args, r.code, r.stderr, says)
		}
	}
}

func TestSetupShowsAndDoesNothing(t *testing.T) {
	r := run(t, "setup", "--root", storyDir+"bridge-holds-the-port.txtar")
	if r.code != 0 || !strings.Contains(r.stdout, "Nothing was changed") || strings.Count(r.stdout, "en4") != 2 {
		t.Errorf("%+v", r)
	}
	r = run(t, "setup", "--root", storyDir+"bridge-holds-the-port.txtar", "--json")
	var plans []setup.Plan
	if err := json.Unmarshal([]byte(r.stdout), &plans); err != nil || len(plans) != 2 {
		t.Errorf("%v %+v", err, r)
	}
	if r := run(t, "setup", "--root", storyDir+"nothing-to-cable.txtar"); r.code != 3 || r.stdout != "" {
		t.Errorf("nothing to set up: %+v", r)
	}
	if r := run(t, "setup", "--root", storyDir+"nothing-to-cable.txtar", "--json"); r.code != 3 || r.stdout != "[]\n" || !strings.Contains(r.stderr, "nothing to set up") {
		t.Errorf("nothing to set up, as JSON: %+v", r)
	}
}

func TestSupportBundle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	cmd := command(t, "support-bundle", "-o", file)
	cmd.Env = append(cmd.Env, "THUNDER_TOKEN=do-not-tell-anybody")
	if r := finish(t, cmd); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	here, there := run(t, "doctor"), run(t, "doctor", "--root", file)
	if here.code != there.code || here.stdout != there.stdout {
		t.Errorf("here:\n%s\nfrom the bundle:\n%s", here.stdout, there.stdout)
	}
}

// Hosts that cannot be asked are named, and count as a failure.
func TestUnreachableHosts(t *testing.T) {
	ssh := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(ssh, []byte("#!/bin/sh\necho 'Permission denied (publickey).' >&2\nexit 255\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"topo", "doctor", "setup"} {
		r := run(t, verb, "--hosts", "alpha,beta", "--ssh", ssh)
		if r.code != 1 || !strings.Contains(r.stdout+r.stderr, "Permission denied") {
			t.Errorf("%s: %+v", verb, r)
		}
	}
}
