package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"thundercollective/internal/setup/netnstest"
	"thundercollective/internal/topology"
)

// inside returns a Runner that runs commands in a namespace.
func inside(ns string) Runner {
	return func(ctx context.Context, argv ...string) ([]byte, error) {
		return Exec(ctx, append([]string{"ip", "netns", "exec", ns}, argv...)...)
	}
}

// onlyPorts fails the test if a command names anything else than the two ports or the
// bridge of one of them.
func onlyPorts(t *testing.T, run Runner) Runner {
	return func(ctx context.Context, argv ...string) ([]byte, error) {
		i := slices.Index(argv, "dev")
		if i < 0 || i+1 >= len(argv) || argv[i+1] != "tb0" && argv[i+1] != "tb1" {
			t.Errorf("%v is about something else than a port", argv)
		}
		return run(ctx, argv...)
	}
}

func labPlans(t *testing.T, l *netnstest.Lab) []Plan {
	t.Helper()
	return mustPlan(t, topology.Build(l.Machines(40)))
}

func TestApplyPingUndo(t *testing.T) {
	l := netnstest.New(t)
	before := [2]string{l.Picture(0), l.Picture(1)}
	plans := labPlans(t, l)
	var ms [2]*Machine
	for i := range 2 {
		ms[i] = &Machine{Run: onlyPorts(t, inside(l.NS[i])), StateDir: t.TempDir()}
		if err := ms[i].Apply(t.Context(), &plans[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, port := range plans[0].Ports {
		for _, taken := range netnstest.InUse {
			if netip.MustParsePrefix(taken).Overlaps(port.Address) {
				t.Errorf("%s collides with %s, which is in use", port.Address, taken)
			}
		}
		// As large as the MTU allows, without fragmentation.
		l.In(0, "ping", "-c", "1", "-W", "5", "-M", "do", "-s", strconv.Itoa(port.MTU-28), port.Peer.String())
	}
	if again := labPlans(t, l); again[0].Ports[0].Address != plans[0].Ports[0].Address {
		t.Errorf("a second plan gives %v, the first gave %v", again[0].Ports[0].Address, plans[0].Ports[0].Address)
	}
	for i := range 2 {
		if err := ms[i].Apply(t.Context(), &plans[i]); err != nil {
			t.Fatalf("applying twice: %v", err)
		}
		if steps, err := ms[i].Steps(t.Context(), &plans[i]); err != nil || len(steps) != 0 {
			t.Errorf("after apply there is still something to do: %v %v", steps, err)
		}
		if err := ms[i].Undo(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := ms[i].Undo(t.Context()); err != nil {
			t.Fatalf("undoing twice: %v", err)
		}
	}
	for i := range 2 {
		l.Same(i, before[i])
	}
}

// A plan removes the addresses of an earlier plan.
func TestChangedPlan(t *testing.T) {
	l := netnstest.New(t)
	before := l.Picture(0)
	plan := labPlans(t, l)[0]
	m := &Machine{Run: inside(l.NS[0]), StateDir: t.TempDir()}
	if err := m.Apply(t.Context(), &plan); err != nil {
		t.Fatal(err)
	}
	old := plan.Ports[0].Address
	plan.Ports[0].Address = netip.MustParsePrefix("172.29.77.1/30")
	if err := m.Apply(t.Context(), &plan); err != nil {
		t.Fatal(err)
	}
	if got := string(l.In(0, "ip", "addr", "show", "dev", plan.Ports[0].Interface)); strings.Contains(got, old.String()) || !strings.Contains(got, "172.29.77.1/30") {
		t.Errorf("after the second plan:\n%s", got)
	}
	if err := m.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Same(0, before)
}

// Undo works although an interface no longer exists.
func TestUndoAfterUnplugging(t *testing.T) {
	l := netnstest.New(t)
	plan := labPlans(t, l)[0]
	m := &Machine{Run: inside(l.NS[0]), StateDir: t.TempDir()}
	if err := m.Apply(t.Context(), &plan); err != nil {
		t.Fatal(err)
	}
	l.In(0, "ip", "link", "del", "tb0")
	if err := m.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := string(l.In(0, "ip", "link", "show", "dev", "tb1")); !strings.Contains(got, "master br0") {
		t.Errorf("tb1 was not restored: %s", got)
	}
}

// TestKilledHalfWay kills the applying process before each of its changes in turn
// and undoes from a new one.
func TestKilledHalfWay(t *testing.T) {
	l := netnstest.New(t)
	before := l.Picture(0)
	b, err := json.Marshal(labPlans(t, l)[0])
	if err != nil {
		t.Fatal(err)
	}
	planFile := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(planFile, b, 0o600); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for finished := false; !finished; steps++ {
		state := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run", "^$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("SETUP_KILL_AFTER=%d", steps), "SETUP_NS="+l.NS[0], "SETUP_PLAN="+planFile, "SETUP_STATE="+state)
		out, err := cmd.CombinedOutput()
		finished = err == nil
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL) {
			t.Fatalf("after %d changes: %v\n%s", steps, err, out)
		}
		m := &Machine{Run: inside(l.NS[0]), StateDir: state}
		if err := m.Undo(t.Context()); err != nil {
			t.Fatalf("undo after a kill at change %d: %v", steps, err)
		}
		l.Same(0, before)
	}
	if steps < 6 {
		t.Errorf("only %d changes were made; the test expects more to be done", steps)
	}
}

// TestMain is also the process that TestKilledHalfWay starts, which kills itself.
func TestMain(m *testing.M) {
	after, err := strconv.Atoi(os.Getenv("SETUP_KILL_AFTER"))
	if err != nil {
		os.Exit(m.Run())
	}
	if err := applyAndDie(after); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func applyAndDie(after int) error {
	b, err := os.ReadFile(os.Getenv("SETUP_PLAN"))
	if err != nil {
		return err
	}
	var plan Plan
	if err := json.Unmarshal(b, &plan); err != nil {
		return err
	}
	run := inside(os.Getenv("SETUP_NS"))
	m := &Machine{StateDir: os.Getenv("SETUP_STATE"), Run: func(ctx context.Context, argv ...string) ([]byte, error) {
		if argv[1] == "link" || argv[2] == "add" { // a change, not a question
			if after == 0 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			after--
		}
		return run(ctx, argv...)
	}}
	return m.Apply(context.Background(), &plan)
}

// TestFailingStep checks that a command that fails leaves nothing behind.
func TestFailingStep(t *testing.T) {
	l := netnstest.New(t)
	before := l.Picture(0)
	plan := labPlans(t, l)[0]
	run, n := inside(l.NS[0]), 0
	m := &Machine{StateDir: t.TempDir(), Run: func(ctx context.Context, argv ...string) ([]byte, error) {
		if argv[1] == "addr" && argv[2] == "add" {
			if n++; n == 2 {
				return nil, errors.New("no")
			}
		}
		return run(ctx, argv...)
	}}
	err := m.Apply(t.Context(), &plan)
	if err == nil || !strings.Contains(err.Error(), "undone") {
		t.Fatalf("error %v does not say that all is undone", err)
	}
	l.Same(0, before)
}
