package e2e_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"thundercollective/internal/netns"
)

// A cableLab is a machine (network namespace) per rank, each with a cable to a switch
// in a namespace of its own:
//
//	┌────────┐          ┌──────────┐          ┌────────┐
//	│ rank 0 │ eth0──p0 │  switch  │ p1──eth0 │ rank 1 │   ...
//	└────────┘          └──────────┘          └────────┘
type cableLab struct {
	t        *testing.T
	hub      string   // the switch's namespace
	machines []string // the ranks'
}

// newCableLab makes n machines, which are gone when the test is.
func newCableLab(t *testing.T, n int) *cableLab {
	t.Helper()
	names := netns.New(t, 1+n)
	l := &cableLab{t: t, hub: names[0], machines: names[1:]}
	l.ip(l.hub, "link", "add", "br0", "type", "bridge")
	l.ip(l.hub, "link", "set", "br0", "up")
	for r, ns := range l.machines {
		port := fmt.Sprintf("p%d", r)
		l.ip(l.hub, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", ns)
		l.ip(l.hub, "link", "set", port, "master", "br0")
		l.ip(l.hub, "link", "set", port, "up")
		l.ip(ns, "link", "set", "lo", "up")
		l.ip(ns, "addr", "add", l.addr(r)+"/24", "dev", "eth0")
		l.ip(ns, "link", "set", "eth0", "up")
	}
	return l
}

func (l *cableLab) addr(r int) string { return fmt.Sprintf("10.98.7.%d", r+1) }

// ip runs ip in a namespace.
func (l *cableLab) ip(ns string, args ...string) {
	l.t.Helper()
	netns.Run(l.t, append([]string{"ip", "-n", ns}, args...)...)
}

// cable takes the cable of a machine out of the switch, or puts it back.
func (l *cableLab) cable(r int, state string) {
	l.ip(l.hub, "link", "set", fmt.Sprintf("p%d", r), state)
}

// start starts a rank on each machine.
func (l *cableLab) start(n int, seed uint64) *chaosJob {
	j := newChaosJob(l.t)
	var addrs []string
	for r := range n {
		addrs = append(addrs, net.JoinHostPort(l.addr(r), "7000"))
	}
	for r := range n {
		cmd := netns.Command(l.t.Context(), l.machines[r], os.Args[0])
		cmd.Env = append(os.Environ(), roleVar+"=chaos", fmt.Sprintf("THUNDER_RANK=%d", r), "THUNDER_TOKEN=secret", "THUNDER_FABRIC=tcp",
			`THUNDER_HOSTFILE=[["`+strings.Join(addrs, `"],["`)+`"]]`, fmt.Sprintf("THUNDER_TEST_SEED=%d", seed))
		j.start(cmd)
	}
	return j
}

// TestCutCable pulls cables of a job of eight machines, one after the other. With the
// defaults, every survivor knows within the time promised which machine is gone, and
// why; the others go on. A cable that is back in a moment does no harm.
func TestCutCable(t *testing.T) {
	const n = 8
	jobs := 1
	soak, _ := strconv.Atoi(os.Getenv("THUNDER_SOAK"))
	jobs = max(jobs, soak/50)
	cuts := []int{5, 0, 3}
	if testing.Short() {
		cuts = cuts[:1]
	}
	l := newCableLab(t, n)
	var times []time.Duration
	for range jobs {
		times = append(times, l.cut(n, cuts)...)
	}
	t.Logf("every rank's error after %s", spread(times))
	if p99 := percentile(times, 99); soak > 0 && p99 > 3*time.Second {
		t.Errorf("p99 is %v, 3 s are promised", p99)
	}
}

// cut runs a job on n machines, pulls cables, puts them back at the end, and returns
// how long it took each time until all ranks knew.
func (l *cableLab) cut(n int, cuts []int) (times []time.Duration) {
	l.t.Helper()
	j := l.start(n, 0)
	j.story = "start"
	j.working()
	j.story = "a cable out for a moment"
	l.cable(2, "down")
	time.Sleep(300 * time.Millisecond)
	l.cable(2, "up")
	for _, victim := range cuts {
		j.story = fmt.Sprintf("cable of rank %d", victim)
		begun := time.Now()
		l.cable(victim, "down")
		_, took, cause := j.expectLoss(begun, []int{victim}, -1)
		l.t.Logf("rank %d: every rank's error after %v: %s", victim, took.Round(time.Millisecond), cause)
		if !strings.Contains(cause, "does not answer") {
			j.fatalf("the cause does not say that the machine is out of reach: %s", cause)
		}
		if word, _, rest := j.next(victim); word != "expelled" {
			j.fatalf("rank %d says %s %s", victim, word, rest)
		}
		times = append(times, took)
		j.drop(victim)
		j.working()
	}
	j.end()
	for _, victim := range cuts {
		j.ps[victim].Wait()
		l.cable(victim, "up")
	}
	return times
}

// TestOneWayLoss has packets of one machine vanish on their way out, while what it is
// sent still arrives.
func TestOneWayLoss(t *testing.T) {
	if _, err := exec.LookPath("nft"); err != nil {
		t.Skip("SKIPPED: needs nft (scripts/install-test-deps.sh installs it)")
	}
	const n, victim = 4, 1
	l := newCableLab(t, n)
	j := l.start(n, 1)
	j.story = "one way"
	j.working()
	rules := netns.Command(t.Context(), l.machines[victim], "nft", "-f", "-")
	rules.Stdin = strings.NewReader("table inet loss {\n chain out {\n type filter hook output priority 0; oifname \"eth0\" drop\n }\n}\n")
	if out, err := rules.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: nftables do not work here: %s", out)
	}
	_, took, cause := j.expectLoss(time.Now(), []int{victim}, victim)
	t.Logf("after %v: %s", took.Round(time.Millisecond), cause)
	j.drop(victim)
	j.working()
	j.end()
}
