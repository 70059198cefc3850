// Package lab makes machines out of network namespaces and cables out of veth
// pairs, with the rates of real ones (tc tbf), for tests: hosts named 0, 1, 2... and
// between two of them as many cables as the test lists.
//
// It needs root, ip and tc; tests without are skipped, loudly.
package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"thundercollective/internal/netns"
)

// A Cable joins two hosts at a rate in Mb/s; 0 for as fast as it goes.
type Cable struct {
	A, B int
	Mbps int
}

// A Lab is a set of hosts and cables.
type Lab struct {
	t      testing.TB
	hosts  []string // namespaces
	cables []Cable
}

// New makes n hosts and the cables between them; they are gone when the test is.
// Cable i is interface ci at both ends, with the addresses 10.90.i.1 at A and
// 10.90.i.2 at B.
func New(t testing.TB, n int, cables ...Cable) *Lab {
	t.Helper()
	l := &Lab{t: t, hosts: netns.New(t, n, "tc"), cables: cables}
	for i := range n {
		l.In(i, "ip", "link", "set", "lo", "up")
	}
	for i, c := range cables {
		dev := l.Device(i)
		netns.Run(t, "ip", "-n", l.hosts[c.A], "link", "add", dev, "type", "veth", "peer", "name", dev, "netns", l.hosts[c.B])
		for _, h := range []int{c.A, c.B} {
			l.In(h, "ip", "addr", "add", fmt.Sprintf("%s/24", l.Addr(i, h)), "dev", dev)
			l.In(h, "ip", "link", "set", dev, "up")
			if c.Mbps > 0 {
				// A queue of 4 ms: enough for TCP to fill the cable.
				l.In(h, "tc", "qdisc", "add", "dev", dev, "root", "tbf",
					"rate", fmt.Sprintf("%dmbit", c.Mbps), "burst", fmt.Sprint(l.Burst(i)), "limit", fmt.Sprint(max(c.Mbps*1000, 256<<10)))
			}
		}
	}
	return l
}

// Host is the namespace that a host is.
func (l *Lab) Host(host int) string { return l.hosts[host] }

// Burst is how many bytes pass a cable at once after a pause, beside its rate.
func (l *Lab) Burst(cable int) int { return max(l.cables[cable].Mbps*125, 64<<10) }

// Device is the interface of a cable, the same at both ends.
func (l *Lab) Device(cable int) string { return fmt.Sprintf("c%d", cable) }

// Addr is the address of a host on a cable.
func (l *Lab) Addr(cable, host int) string {
	if l.cables[cable].A == host {
		return fmt.Sprintf("10.90.%d.1", cable)
	}
	return fmt.Sprintf("10.90.%d.2", cable)
}

// Addrs lists where each host listens, on all its cables, as --addr takes it. Hosts
// list their cables in different orders.
func (l *Lab) Addrs(port int) []string {
	list := make([]string, len(l.hosts))
	for h := range l.hosts {
		var at []string
		for k := range l.cables {
			i := k
			if h%2 == 1 {
				i = len(l.cables) - 1 - k
			}
			if c := l.cables[i]; c.A == h || c.B == h {
				at = append(at, fmt.Sprintf("%s:%d", l.Addr(i, h), port))
			}
		}
		list[h] = strings.Join(at, ",")
	}
	return list
}

// Edges lists the cables as --edges takes them, with their rates.
func (l *Lab) Edges() string {
	var list []string
	for _, c := range l.cables {
		e := fmt.Sprintf("%d-%d", c.A, c.B)
		if c.Mbps > 0 {
			e += fmt.Sprintf("@%g", float64(c.Mbps)/1000)
		}
		list = append(list, e)
	}
	return strings.Join(list, ",")
}

// Cut takes a cable out at one end, and Restore puts it back.
func (l *Lab) Cut(cable int) {
	l.t.Helper()
	l.In(l.cables[cable].A, "ip", "link", "set", l.Device(cable), "down")
}

// Restore puts a cable back.
func (l *Lab) Restore(cable int) {
	l.t.Helper()
	l.In(l.cables[cable].A, "ip", "link", "set", l.Device(cable), "up")
}

// In runs a command on a host.
func (l *Lab) In(host int, argv ...string) []byte {
	l.t.Helper()
	return netns.Run(l.t, netns.Inside(l.hosts[host], argv...)...)
}

// Command is a command that runs on a host. Hosts have boot ids of their own, as machines
// have, but one name.
func (l *Lab) Command(host int, argv ...string) *exec.Cmd {
	argv = netns.Machine(l.t, l.hosts[host], argv...)
	return exec.CommandContext(l.t.Context(), argv[0], argv[1:]...)
}

// Rate is what iperf3 gets over a cable, from A to B, in Mb/s.
func (l *Lab) Rate(cable int) float64 {
	l.t.Helper()
	if _, err := exec.LookPath("iperf3"); err != nil {
		l.t.Skip("SKIPPED: needs iperf3 (scripts/install-test-deps.sh installs it)")
	}
	c := l.cables[cable]
	server := l.Command(c.B, "iperf3", "-s")
	if err := server.Start(); err != nil {
		l.t.Fatal(err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	// Twice, and the better one: the machine may have been busy.
	return max(l.measure(cable), l.measure(cable))
}

// measure runs iperf3's client once.
func (l *Lab) measure(cable int) float64 {
	l.t.Helper()
	c := l.cables[cable]
	var out []byte
	var err error
	for range 20 {
		ctx, cancel := context.WithTimeout(l.t.Context(), 15*time.Second)
		out, err = netns.Command(ctx, l.hosts[c.A], "iperf3", "-c", l.Addr(cable, c.B), "-t", "2", "-J").Output()
		cancel()
		if err == nil {
			break
		}
		time.Sleep(200 * time.Millisecond) // until the server listens
	}
	if err != nil {
		l.t.Fatalf("iperf3: %v\n%s", err, out)
	}
	var report struct {
		End struct {
			Received struct {
				Bits float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		l.t.Fatal(err)
	}
	return report.End.Received.Bits / 1e6
}
