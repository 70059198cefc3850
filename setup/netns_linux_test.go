package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"thundercollective/topology"
	"thundercollective/topology/probe"
)

// These tests make network namespaces that stand for machines and veth pairs that
// stand for Thunderbolt cables:
//
//	   ns a                       ns b
//	┌──────────┐               ┌──────────┐
//	│      tb0 ├───────────────┤ tb0      │
//	│ br0─ tb1 ├───────────────┤ tb1 ─br0 │   tb1 starts as a bridge's member
//	│     eth0 ├── (network)   │          │   eth0 is none of our business
//	└──────────┘               └──────────┘
//
// They need root and iproute2, and ping; they say so when they cannot run.

type lab struct {
	t    *testing.T
	name [2]string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: needs root, to make network namespaces")
	}
	for _, tool := range []string{"ip", "ping"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: needs %s (scripts/install-test-deps.sh installs it)", tool)
		}
	}
	l := &lab{t: t}
	for i := range l.name {
		l.name[i] = fmt.Sprintf("thunder-%d-%s-%c", os.Getpid(), strings.ToLower(strconv.FormatInt(int64(len(t.Name())), 36)), 'a'+i)
	}
	if out, err := exec.Command("ip", "netns", "add", l.name[0]).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: cannot make network namespaces here: %s", out)
	}
	t.Cleanup(func() { exec.Command("ip", "netns", "del", l.name[0]).Run() })
	l.must("ip", "netns", "add", l.name[1])
	t.Cleanup(func() { exec.Command("ip", "netns", "del", l.name[1]).Run() })
	for i := range 2 {
		// Duplicate address detection takes seconds, and is not what is tested.
		l.in(i, "sh", "-c", "echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad")
	}
	for _, itf := range []string{"tb0", "tb1"} {
		l.must("ip", "-n", l.name[0], "link", "add", itf, "type", "veth", "peer", "name", itf, "netns", l.name[1])
	}
	for i := range 2 {
		l.in(i, "ip", "link", "set", "lo", "up")
		l.in(i, "ip", "link", "add", "br0", "type", "bridge")
		l.in(i, "ip", "link", "set", "tb1", "master", "br0")
		l.in(i, "ip", "link", "set", "tb1", "up")
		l.in(i, "ip", "link", "set", "br0", "up")
		// A port that was never up shows "qdisc noop", which the kernel replaces
		// for good the first time it is; this one has been.
		l.in(i, "ip", "link", "set", "tb0", "up")
		l.in(i, "ip", "link", "set", "tb0", "down")
	}
	l.in(0, "ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth0-peer")
	l.in(0, "ip", "link", "set", "eth0-peer", "up")
	l.in(0, "ip", "link", "set", "eth0", "up")
	l.in(0, "ip", "addr", "add", "10.71.0.9/17", "dev", "eth0") // half of the first pool is taken
	l.in(0, "ip", "route", "add", "10.71.128.0/18", "via", "10.71.0.1")
	return l
}

func (l *lab) must(argv ...string) []byte {
	l.t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return out
}

func (l *lab) in(ns int, argv ...string) []byte {
	l.t.Helper()
	return l.must(append([]string{"ip", "netns", "exec", l.name[ns]}, argv...)...)
}

// run is a Runner inside a namespace.
func run(ns string) Runner {
	return func(ctx context.Context, argv ...string) ([]byte, error) {
		return Exec(ctx, append([]string{"ip", "netns", "exec", ns}, argv...)...)
	}
}

// picture is everything that undo has to bring back.
func (l *lab) picture(ns int) string {
	var b bytes.Buffer
	for _, argv := range [][]string{
		{"ip", "addr"}, {"ip", "route", "show", "table", "all"}, {"ip", "-6", "route", "show", "table", "all"}, {"bridge", "link"},
	} {
		fmt.Fprintf(&b, "$ %s\n%s", strings.Join(argv, " "), l.in(ns, argv...))
	}
	return b.String()
}

// graph is what topo would see if the veth pairs were cables.
func (l *lab) graph() *topology.Graph {
	l.t.Helper()
	var ms []*probe.Machine
	for i := range 2 {
		m := &probe.Machine{Host: string(rune('a' + i)), OS: probe.OS{Kind: "linux"}}
		var err error
		if m.Interfaces, err = probe.ParseIPAddr(l.in(i, "ip", "-j", "-d", "addr")); err != nil {
			l.t.Fatal(err)
		}
		if m.Routes, err = probe.ParseIPRoute(l.in(i, "ip", "-j", "route")); err != nil {
			l.t.Fatal(err)
		}
		for k := range 2 {
			own, far := fmt.Sprintf("%d%d", i, k), fmt.Sprintf("%d%d", 1-i, k)
			m.Thunderbolt.Controllers++
			m.Thunderbolt.Domains = append(m.Thunderbolt.Domains, probe.Domain{UUID: own})
			m.Thunderbolt.Ports = append(m.Thunderbolt.Ports, probe.Port{Number: k + 1, Domain: own, Connected: true, Gbps: 40,
				Devices: []probe.Node{{Kind: probe.KindHost, UUID: far, Interface: fmt.Sprintf("tb%d", k)}}})
		}
		ms = append(ms, m)
	}
	return topology.Build(ms)
}

func (l *lab) plans() []Plan {
	l.t.Helper()
	plans, skipped, err := MakePlans(l.graph())
	if err != nil || len(skipped) > 0 {
		l.t.Fatal(err, skipped)
	}
	return plans
}

// settle waits until the kernel has noticed the carrier of every interface that
// is up and given each its link-local address: what it does by itself, and in
// its own time, must not show as a difference.
func (l *lab) settle() {
	l.t.Helper()
	for i, watch := range [2]string{"br0 tb1 eth0 eth0-peer", "br0 tb1"} {
		l.in(i, "sh", "-c", `for i in $(seq 200); do
			ok=1
			for itf in `+watch+`; do
				ip link show $itf | grep -q 'state UP' && ip -6 addr show dev $itf | grep -q fe80 || ok=0
			done
			[ $ok = 1 ] && exit 0
			sleep 0.05
		done; ip addr; exit 1`)
	}
}

func TestApplyPingUndo(t *testing.T) {
	l := newLab(t)
	l.settle()
	before := [2]string{l.picture(0), l.picture(1)}
	plans := l.plans()
	var ms [2]*Machine
	for i := range 2 {
		ms[i] = &Machine{Run: run(l.name[i]), StateDir: t.TempDir()}
		if err := ms[i].Apply(context.Background(), &plans[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, port := range plans[0].Ports {
		for _, m := range ms[0].taken(t) {
			if m.Overlaps(port.Address) {
				t.Errorf("%s collides with %s, which is in use", port.Address, m)
			}
		}
		// As large as the MTU allows, and not to be cut up.
		l.in(0, "ping", "-c", "1", "-W", "5", "-M", "do", "-s", strconv.Itoa(port.MTU-28), port.Peer.String())
	}
	if got := l.plans(); got[0].Ports[0].Address != plans[0].Ports[0].Address {
		t.Errorf("a second plan gives %v, the first gave %v", got[0].Ports[0].Address, plans[0].Ports[0].Address)
	}
	for i := range 2 {
		if err := ms[i].Apply(context.Background(), &plans[i]); err != nil {
			t.Fatalf("applying twice: %v", err)
		}
		if steps, err := ms[i].Steps(context.Background(), &plans[i]); err != nil || len(steps) != 0 {
			t.Errorf("after apply there is still something to do: %v %v", steps, err)
		}
		if err := ms[i].Undo(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := ms[i].Undo(context.Background()); err != nil {
			t.Fatalf("undoing twice: %v", err)
		}
	}
	l.settle()
	for i := range 2 {
		l.same(i, before[i])
	}
}

// taken lists the networks that were in use before.
func (m *Machine) taken(t *testing.T) []netip.Prefix {
	t.Helper()
	return []netip.Prefix{netip.MustParsePrefix("10.71.0.0/17"), netip.MustParsePrefix("10.71.128.0/18")}
}

func (l *lab) same(ns int, before string) {
	l.t.Helper()
	if got := l.picture(ns); got != before {
		l.t.Errorf("namespace %d is not as before:\n%s", ns, lineDiff(before, got))
	}
}

func lineDiff(a, b string) string {
	var out strings.Builder
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(as), len(bs)) {
		var x, y string
		if i < len(as) {
			x = as[i]
		}
		if i < len(bs) {
			y = bs[i]
		}
		if x != y {
			fmt.Fprintf(&out, "- %s\n+ %s\n", x, y)
		}
	}
	return out.String()
}

// TestKilledHalfWay kills the applying process after each of its commands in turn
// and undoes from a new one.
func TestKilledHalfWay(t *testing.T) {
	l := newLab(t)
	l.settle()
	before := l.picture(0)
	plan := l.plans()[0]
	planFile := filepath.Join(t.TempDir(), "plan.json")
	b, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(planFile, b, 0o600); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for finished := false; !finished; steps++ {
		state := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run", "^$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("SETUP_KILL_AFTER=%d", steps), "SETUP_NS="+l.name[0], "SETUP_PLAN="+planFile, "SETUP_STATE="+state)
		out, err := cmd.CombinedOutput()
		finished = err == nil
		if exit := (*exec.ExitError)(nil); err != nil {
			var ok bool
			if exit, ok = err.(*exec.ExitError); !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("after %d commands: %v\n%s", steps, err, out)
			}
		}
		m := &Machine{Run: run(l.name[0]), StateDir: state}
		if err := m.Undo(context.Background()); err != nil {
			t.Fatalf("undo after a kill at command %d: %v", steps, err)
		}
		l.settle()
		l.same(0, before)
	}
	if steps < 6 {
		t.Errorf("only %d commands were run; the test expects more to be done", steps)
	}
}

// TestMain is also the process that TestKilledHalfWay starts and that kills
// itself.
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
	inner := run(os.Getenv("SETUP_NS"))
	m := &Machine{StateDir: os.Getenv("SETUP_STATE"), Run: func(ctx context.Context, argv ...string) ([]byte, error) {
		if argv[1] == "link" || argv[2] == "add" { // a change, not a question
			if after == 0 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			after--
		}
		return inner(ctx, argv...)
	}}
	return m.Apply(context.Background(), &plan)
}

// TestFailingStep checks that a command that fails leaves nothing behind.
func TestFailingStep(t *testing.T) {
	l := newLab(t)
	l.settle()
	before := l.picture(0)
	plan := l.plans()[0]
	inner, n := run(l.name[0]), 0
	m := &Machine{StateDir: t.TempDir(), Run: func(ctx context.Context, argv ...string) ([]byte, error) {
		if argv[1] == "addr" && argv[2] == "add" {
			if n++; n == 2 {
				return nil, fmt.Errorf("no")
			}
		}
		return inner(ctx, argv...)
	}}
	err := m.Apply(context.Background(), &plan)
	if err == nil || !strings.Contains(err.Error(), "undone") {
		t.Fatalf("error %v does not say that all is undone", err)
	}
	l.settle()
	l.same(0, before)
}
