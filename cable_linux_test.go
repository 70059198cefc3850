package thunder_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"thundercollective/internal/faultproxy"
)

// A cableLab is a machine (network namespace) per rank, each with a cable to a switch
// in a namespace of its own:
//
//	┌────────┐          ┌──────────┐          ┌────────┐
//	│ rank 0 │ eth0──p0 │  switch  │ p1──eth0 │ rank 1 │   ...
//	└────────┘          └──────────┘          └────────┘
type cableLab struct {
	t    *testing.T
	name string
}

// newCableLab makes n machines, which are gone when the test is.
func newCableLab(t *testing.T, n int) *cableLab {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: needs root, to make network namespaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("SKIPPED: needs ip (scripts/install-test-deps.sh installs it)")
	}
	l := &cableLab{t: t, name: fmt.Sprintf("thunder-cable-%d", os.Getpid())}
	if out, err := exec.Command("ip", "netns", "add", l.name).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: cannot make network namespaces here: %s", out)
	}
	t.Cleanup(func() { exec.Command("ip", "netns", "del", l.name).Run() })
	l.ip("-n", l.name, "link", "add", "br0", "type", "bridge")
	l.ip("-n", l.name, "link", "set", "br0", "up")
	for r := range n {
		ns, port := l.machine(r), fmt.Sprintf("p%d", r)
		l.ip("netns", "add", ns)
		t.Cleanup(func() { exec.Command("ip", "netns", "del", ns).Run() })
		l.ip("-n", l.name, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", ns)
		l.ip("-n", l.name, "link", "set", port, "master", "br0")
		l.ip("-n", l.name, "link", "set", port, "up")
		l.ip("-n", ns, "link", "set", "lo", "up")
		l.ip("-n", ns, "addr", "add", l.addr(r)+"/24", "dev", "eth0")
		l.ip("-n", ns, "link", "set", "eth0", "up")
	}
	return l
}

func (l *cableLab) machine(r int) string { return fmt.Sprintf("%s-%d", l.name, r) }
func (l *cableLab) addr(r int) string    { return fmt.Sprintf("10.98.7.%d", r+1) }

func (l *cableLab) ip(args ...string) {
	l.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		l.t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// cable takes the cable of a machine out of the switch, or puts it back.
func (l *cableLab) cable(r int, state string) {
	l.ip("-n", l.name, "link", "set", fmt.Sprintf("p%d", r), state)
}

// start starts a rank on each machine.
func (l *cableLab) start(n int, seed uint64) *chaosJob {
	j := &chaosJob{t: l.t, via: map[[2]int]*faultproxy.Proxy{}}
	var addrs []string
	for r := range n {
		addrs = append(addrs, net.JoinHostPort(l.addr(r), "7000"))
	}
	for r := range n {
		cmd := exec.Command("ip", "netns", "exec", l.machine(r), os.Args[0])
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
			l.t.Errorf("the cause does not say that the machine is out of reach: %s", cause)
		}
		if word, _, rest := j.next(victim); word != "expelled" {
			l.t.Fatalf("rank %d says %s %s", victim, word, rest)
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
	rules := exec.Command("ip", "netns", "exec", l.machine(victim), "nft", "-f", "-")
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
