//go:build linux

// Package netnstest makes two network namespaces in place of machines, with veth pairs in
// place of Thunderbolt cables between them:
//
//	    ns 0                      ns 1
//	┌──────────┐               ┌──────────┐
//	│      tb0 ├───────────────┤ tb0      │
//	│ br0─ tb1 ├───────────────┤ tb1 ─br0 │   tb1 starts in a bridge
//	│     eth0 ├── (network)   │          │   eth0 must not be touched
//	└──────────┘               └──────────┘
//
// Tests that use it need root, ip and ping; without them, they are skipped.
package netnstest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"thundercollective/internal/netns"
	"thundercollective/internal/topology/probe"
)

// InUse are the networks in which namespace 0 has an address and a route.
var InUse = []string{"10.71.0.0/17", "10.71.128.0/18"}

// A Lab is two machines with two cables.
type Lab struct {
	t  testing.TB
	NS []string // names of the two namespaces
}

// New makes a lab, which is removed at the end of the test.
func New(t testing.TB) *Lab {
	t.Helper()
	l := &Lab{t: t, NS: netns.New(t, 2, "ping")}
	l.build()
	l.Settle()
	return l
}

func (l *Lab) build() {
	l.t.Helper()
	for i := range 2 {
		// Duplicate address detection takes seconds, and is not tested here.
		l.In(i, "sh", "-c", "echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad")
	}
	for _, itf := range []string{"tb0", "tb1"} {
		netns.Run(l.t, "ip", "-n", l.NS[0], "link", "add", itf, "type", "veth", "peer", "name", itf, "netns", l.NS[1])
	}
	for i := range 2 {
		l.In(i, "ip", "link", "set", "lo", "up")
		l.In(i, "ip", "link", "add", "br0", "type", "bridge")
		l.In(i, "ip", "link", "set", "tb1", "master", "br0")
		l.In(i, "ip", "link", "set", "tb1", "up")
		l.In(i, "ip", "link", "set", "br0", "up")
		// An interface that was never up shows "qdisc noop", which changes for good
		// the first time it is up. So bring it up once.
		l.In(i, "ip", "link", "set", "tb0", "up")
		l.In(i, "ip", "link", "set", "tb0", "down")
	}
	l.In(0, "ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth0-peer")
	l.In(0, "ip", "link", "set", "eth0-peer", "up")
	l.In(0, "ip", "link", "set", "eth0", "up")
	l.In(0, "ip", "addr", "add", "10.71.0.9/17", "dev", "eth0") // half of the first pool is taken
	l.In(0, "ip", "route", "add", InUse[1], "via", "10.71.0.1")
}

// In runs a command in a namespace and returns its output.
func (l *Lab) In(ns int, argv ...string) []byte {
	l.t.Helper()
	return netns.Run(l.t, netns.Inside(l.NS[ns], argv...)...)
}

// Picture returns everything in a namespace that setup could change.
func (l *Lab) Picture(ns int) string {
	l.t.Helper()
	var b bytes.Buffer
	for _, argv := range [][]string{
		{"ip", "addr"}, {"ip", "route", "show", "table", "all"}, {"ip", "-6", "route", "show", "table", "all"}, {"bridge", "link"},
	} {
		fmt.Fprintf(&b, "$ %s\n%s", strings.Join(argv, " "), l.In(ns, argv...))
	}
	return b.String()
}

// Same fails the test if the picture of a namespace differs from before.
func (l *Lab) Same(ns int, before string) {
	l.t.Helper()
	l.Settle()
	if got := l.Picture(ns); got != before {
		l.t.Errorf("namespace %d is not as before:\n%s", ns, difference(before, got))
	}
}

// Settle waits until the kernel has detected the carrier of every interface that is up
// and given it a link-local address, so that these changes do not show as a difference.
func (l *Lab) Settle() {
	l.t.Helper()
	for i, watch := range [2]string{"br0 tb1 eth0 eth0-peer", "br0 tb1"} {
		l.In(i, "sh", "-c", `for i in $(seq 400); do
			ok=1
			for itf in `+watch+`; do
				ip link show $itf | grep -q 'state UP' && ip -6 addr show dev $itf | grep -q fe80 || ok=0
			done
			[ $ok = 1 ] && exit 0
			sleep 0.05
		done; ip addr; exit 1`)
	}
}

// Machines returns the reports that topo would make if the veth pairs were Thunderbolt
// cables of the given speed.
func (l *Lab) Machines(gbps float64) []*probe.Machine {
	l.t.Helper()
	var ms []*probe.Machine
	for i := range 2 {
		m := &probe.Machine{Schema: probe.SchemaVersion, Host: fmt.Sprintf("lab%d", i), OS: probe.OS{Kind: "linux"}}
		var err error
		if m.Interfaces, err = probe.ParseIPAddr(l.In(i, "ip", "-j", "-d", "addr")); err != nil {
			l.t.Fatal(err)
		}
		if m.Routes, err = probe.ParseIPRoute(l.In(i, "ip", "-j", "route")); err != nil {
			l.t.Fatal(err)
		}
		for k := range 2 {
			own, far := fmt.Sprintf("%d%d", i, k), fmt.Sprintf("%d%d", 1-i, k)
			m.Thunderbolt.Controllers++
			m.Thunderbolt.Domains = append(m.Thunderbolt.Domains, probe.Domain{UUID: own})
			m.Thunderbolt.Ports = append(m.Thunderbolt.Ports, probe.Port{Number: k + 1, Domain: own, Connected: true, Gbps: gbps, MaxGbps: gbps,
				Devices: []probe.Node{{Kind: probe.KindHost, UUID: far, Interface: fmt.Sprintf("tb%d", k)}}})
		}
		ms = append(ms, m)
	}
	return ms
}

// difference lists the lines that are only in one of the texts.
func difference(a, b string) string {
	var out strings.Builder
	for _, x := range []struct{ sign, here, there string }{{"-", a, b}, {"+", b, a}} {
		have := map[string]bool{}
		for line := range strings.Lines(x.there) {
			have[line] = true
		}
		for line := range strings.Lines(x.here) {
			if !have[line] {
				out.WriteString(x.sign + " " + line)
			}
		}
	}
	return out.String()
}
