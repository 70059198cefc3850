package topology

import (
	"context"
	"fmt"
	"testing"

	"thundercollective/internal/topology/probe"
)

// story builds the graph of a captured cluster.
func story(t testing.TB, name string) *Graph {
	t.Helper()
	ms, err := probe.Captured(context.Background(), "../doctor/testdata/stories/"+name+".txtar")
	if err != nil {
		t.Fatal(err)
	}
	return Build(ms)
}

// macs returns n Macs without addresses, in which each port is a domain of its own.
func macs(n, ports int) []*probe.Machine {
	var ms []*probe.Machine
	for i := range n {
		m := &probe.Machine{Host: fmt.Sprintf("m%d", i), OS: probe.OS{Kind: "darwin", Name: "macOS", Version: "26.2"}, CPU: probe.CPU{Model: "Apple M3 Ultra"}, Memory: 512 << 30}
		for p := 1; p <= ports; p++ {
			uuid := fmt.Sprintf("%d/%d", i, p)
			m.Thunderbolt.Controllers++
			m.Thunderbolt.Domains = append(m.Thunderbolt.Domains, probe.Domain{UUID: uuid})
			m.Thunderbolt.Ports = append(m.Thunderbolt.Ports, probe.Port{Number: p, Domain: uuid, MaxGbps: 80, Interface: fmt.Sprintf("en%d", p+10)})
		}
		ms = append(ms, m)
	}
	return ms
}

// plugIn puts a cable between port pa of a and port pb of b.
func plugIn(ms []*probe.Machine, a, pa, b, pb int) {
	for _, e := range [2][4]int{{a, pa, b, pb}, {b, pb, a, pa}} {
		port := &ms[e[0]].Thunderbolt.Ports[e[1]-1]
		port.Connected, port.Gbps = true, 80
		port.Devices = append(port.Devices, probe.Node{Kind: probe.KindHost, Name: "Mac Studio", UUID: fmt.Sprintf("%d/%d", e[2], e[3])})
	}
}
