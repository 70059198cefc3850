package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"thundercollective/internal/netns"
)

// A cable that is pulled says nothing to either side: no end of a stream, no
// reset. Both notice that they hear nothing.
//
//	launcher and host a          host b, in a namespace
//	     10.213.x.1 ---- pulled ---- 10.213.x.2
func TestCablePulled(t *testing.T) {
	t.Parallel()
	f, ns, there := cabled(t, 0)
	c := newCensus(t)
	l := f.launch(t, append([]string{"--hosts", "a:2,b:2", "--"}, c.script(`while :; do sleep 1; done`)...)...)
	_, all := c.processes(t, 4)
	eventually(t, 20*time.Second, "ranks are up", func() bool { return strings.Count(l.out.String(), "is up") == 4 })
	since := clock.Given()
	command(t, "ip", "-n", ns, "link", "set", there, "down")
	// The launcher's side takes as long again, once it has noticed.
	onB := all[4:]
	eventually(t, since+5*time.Second-clock.Given(), "processes on b end", func() bool {
		for _, pid := range onB {
			if alive(pid) {
				return false
			}
		}
		return true
	})
	l.want(t, 1, "b: the connection was lost", "rank 2 on b was lost with its machine")
	l.gone(t, clock.Given(), all)
}

// cabled returns hosts a, which is here, and b, in a namespace, and the end of the cable
// there. Tests that run at the same time have different numbers.
func cabled(t *testing.T, number int) (f *farm, ns, there string) {
	t.Helper()
	id := (2*os.Getpid() + number) % 200
	here, there := fmt.Sprintf("te%da", id), fmt.Sprintf("te%db", id)
	ns = netns.New(t, 1)[0]
	command(t, "ip", "-n", ns, "link", "set", "lo", "up")
	command(t, "ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", ns)
	command(t, "ip", "addr", "add", fmt.Sprintf("10.213.%d.1/30", id), "dev", here)
	command(t, "ip", "link", "set", here, "up")
	command(t, "ip", "-n", ns, "addr", "add", fmt.Sprintf("10.213.%d.2/30", id), "dev", there)
	command(t, "ip", "-n", ns, "link", "set", there, "up")
	f = newFarm(t,
		&sshHost{name: "a", addr: fmt.Sprintf("10.213.%d.1", id)},
		&sshHost{name: "b", addr: fmt.Sprintf("10.213.%d.2", id), port: "2222", inside: netns.Inside(ns)},
	)
	return f, ns, there
}

// TestOneWayLoss has what ranks of b send vanish, while the launcher still reaches it: the
// ranks of a lose those of b, which do not end by themselves in time. The summary names
// the rank that was lost, and why.
func TestOneWayLoss(t *testing.T) {
	t.Parallel()
	f, ns, there := cabled(t, 1)
	l := f.launch(t, "--hosts", "a:1,b:1", "--env", "THUNDER_FABRIC=tcp", "--env", "THUNDER_HEARTBEAT_TIMEOUT=2s", "--",
		thunderBin, "bench", "allreduce", "--factor", "2")
	eventually(t, 30*time.Second, "ranks work", func() bool { return strings.Contains(l.out.String(), "allreduce") })
	rules := netns.Command(t.Context(), ns, "nft", "-f", "-")
	rules.Stdin = strings.NewReader("table inet loss {\n chain out {\n type filter hook output priority 0; oifname \"" + there + "\" tcp sport != 2222 drop\n }\n}\n")
	if out, err := rules.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: nftables do not work here: %s", out)
	}
	l.want(t, 1, "rank 0 on a failed first: it exited with code 1", ", because of rank 1 (lost rank 1 on ", "no heartbeat for ")
	if strings.Contains(l.errs.String(), "earlier") {
		t.Errorf("a rank failed first, and another earlier:\n%s", l.errs.String())
	}
	t.Log(l.errs.String())
}
