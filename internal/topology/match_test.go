package topology

import (
	"encoding/json"
	"fmt"
	"testing"

	"thundercollective/internal/topology/probe"
)

func TestCrossedCables(t *testing.T) {
	ms := macs(2, 4)
	plugIn(ms, 0, 1, 1, 4)
	plugIn(ms, 0, 2, 1, 3)
	plugIn(ms, 0, 4, 1, 1)
	g := Build(ms)
	want := map[int]int{1: 4, 2: 3, 4: 1}
	if len(g.Cables) != 3 {
		t.Fatalf("%d cables", len(g.Cables))
	}
	for _, c := range g.Cables {
		if want[c.A.Port] != c.B.Port || c.Match != ByIdentity {
			t.Errorf("%v matched by %s", &c, c.Match)
		}
	}
}

func TestSameGraphWhateverTheOrder(t *testing.T) {
	shape := func(ms []*probe.Machine) string {
		g := Build(ms)
		return fmt.Sprint(g.Shape.Name, len(g.Cables))
	}
	ms := macs(4, 4)
	plugIn(ms, 0, 1, 1, 1)
	plugIn(ms, 1, 2, 2, 1)
	plugIn(ms, 2, 2, 3, 1)
	plugIn(ms, 3, 2, 0, 2)
	a := shape(ms)
	if b := shape([]*probe.Machine{ms[2], ms[0], ms[3], ms[1]}); a != b {
		t.Errorf("%s in one order, %s in another", a, b)
	}
}

// twins returns two machines with one controller each and n cables between them.
func twins(n int) []*probe.Machine {
	var ms []*probe.Machine
	for i := range 2 {
		m := &probe.Machine{Host: string(rune('a' + i)), OS: probe.OS{Kind: "linux"}}
		own, far := fmt.Sprintf("U%d", i), fmt.Sprintf("U%d", 1-i)
		m.Thunderbolt = probe.Thunderbolt{Controllers: 1, Domains: []probe.Domain{{UUID: own}}}
		for p := range n {
			itf := fmt.Sprintf("thunderbolt%d", p)
			m.Thunderbolt.Ports = append(m.Thunderbolt.Ports, probe.Port{Number: p + 1, Domain: own, Connected: true, Gbps: 40,
				Devices: []probe.Node{{Kind: probe.KindHost, UUID: far, Interface: itf, Gbps: 40}}})
			m.Interfaces = append(m.Interfaces, probe.Interface{Name: itf, MAC: fmt.Sprintf("02:00:00:00:%02x:%02x", i, p)})
		}
		ms = append(ms, m)
	}
	return ms
}

func TestTwinCables(t *testing.T) {
	t.Run("nothing heard", func(t *testing.T) {
		g := Build(twins(2))
		for _, c := range g.Cables {
			if c.Match != ByAssumption {
				t.Errorf("%v matched by %s", &c, c.Match)
			}
		}
		if len(g.Cables) != 2 {
			t.Errorf("%d cables", len(g.Cables))
		}
	})
	t.Run("one heard", func(t *testing.T) {
		ms := twins(2) // crossed: port 1 of a goes to port 2 of b
		ms[0].Neighbours = []probe.Neighbour{{Interface: "thunderbolt0", MAC: "02:00:00:00:01:01"}}
		for _, c := range Build(ms).Cables {
			if c.A.Port == c.B.Port || c.Match != ByNeighbour {
				t.Errorf("%v matched by %s", &c, c.Match)
			}
		}
	})
	t.Run("one end sees fewer", func(t *testing.T) {
		ms := twins(2)
		ms[1].Thunderbolt.Ports[1].Devices = nil
		match := map[string]int{}
		for _, c := range Build(ms).Cables {
			match[c.Match]++
		}
		if match[ByIdentity] != 1 || match[ByOneEnd] != 1 {
			t.Errorf("matched %v", match)
		}
	})
}

func TestLoop(t *testing.T) {
	ms := macs(1, 2)
	plugIn(ms, 0, 1, 0, 2)
	g := Build(ms)
	if len(g.Cables) != 1 || g.Cables[0].A.Machine != g.Cables[0].B.Machine || g.Shape.Name != Alone {
		t.Errorf("%+v, %s", g.Cables, g.Shape.Name)
	}
}

func TestHubsAtAnyDepth(t *testing.T) {
	ms := macs(2, 2)
	plugIn(ms, 0, 1, 1, 1)
	inner := ms[0].Thunderbolt.Ports[0].Devices
	for i := range 5 {
		inner = []probe.Node{{Kind: probe.KindDevice, Name: fmt.Sprintf("hub %d", i), Gbps: 40, Children: inner}}
	}
	ms[0].Thunderbolt.Ports[0].Devices = inner
	g := Build(ms)
	if len(g.Cables) != 1 || len(g.Cables[0].Via) != 5 || g.Cables[0].Gbps != 40 || g.Cables[0].Match != ByIdentity {
		t.Errorf("%+v", g.Cables)
	}
}

// TestGraphJSON checks that a graph does not change when it is encoded and decoded.
func TestGraphJSON(t *testing.T) {
	for _, name := range []string{"four-macs-mesh", "two-strix-halo-two-rails", "surprising-output"} {
		g := story(t, name)
		b, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		var back Graph
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(Build(back.Machines))
		if err != nil || string(again) != string(b) {
			t.Errorf("%s: the graph built from JSON differs (%v)", name, err)
		}
	}
}
