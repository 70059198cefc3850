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
	id := os.Getpid() % 200
	ns, here, there := netns.New(t, 1)[0], fmt.Sprintf("te%da", id), fmt.Sprintf("te%db", id)
	command(t, "ip", "-n", ns, "link", "set", "lo", "up")
	command(t, "ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", ns)
	command(t, "ip", "addr", "add", fmt.Sprintf("10.213.%d.1/30", id), "dev", here)
	command(t, "ip", "link", "set", here, "up")
	command(t, "ip", "-n", ns, "addr", "add", fmt.Sprintf("10.213.%d.2/30", id), "dev", there)
	command(t, "ip", "-n", ns, "link", "set", there, "up")
	f := newFarm(t,
		&sshHost{name: "a", addr: "127.0.0.1"},
		&sshHost{name: "b", addr: fmt.Sprintf("10.213.%d.2", id), port: "2222", inside: netns.Inside(ns)},
	)
	c := newCensus(t)
	l := f.launch(t, append([]string{"--hosts", "a:2,b:2", "--"}, c.script(`while :; do sleep 1; done`)...)...)
	_, all := c.processes(t, 4)
	eventually(t, 20*time.Second, "ranks are up", func() bool { return strings.Count(l.out.String(), "is up") == 4 })
	since := time.Now()
	command(t, "ip", "-n", ns, "link", "set", there, "down")
	// The launcher's side takes as long again, once it has noticed.
	onB := all[4:]
	eventually(t, 5*time.Second-time.Since(since), "processes on b end", func() bool {
		for _, pid := range onB {
			if alive(pid) {
				return false
			}
		}
		return true
	})
	l.want(t, 1, "b: the connection was lost", "rank 2 on b was lost with its machine")
	l.gone(t, time.Now(), all)
}
