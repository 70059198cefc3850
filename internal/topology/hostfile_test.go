package topology

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"thundercollective/internal/rendezvous"
	"thundercollective/internal/topology/probe"
)

func TestHostfiles(t *testing.T) {
	tests := []struct {
		story, form string
		hosts       int
		first       []string // addresses of the first host
		rdma        bool
		says        string
	}{
		{"two-macs-two-cables", "", 2, []string{"10.71.0.1", "10.71.0.5"}, true, `"ips"`},
		{"four-macs-mesh", "", 4, []string{"10.71.0.1", "10.71.0.5", "10.71.0.9"}, true, `"edges"`},
		{"four-macs-mesh", FormMLX, 4, []string{"192.168.1.11"}, true, `"rdma_en3"`},
		{"four-macs-ring", FormMLX, 4, []string{"10.71.0.14"}, true, `"ips"`},
		{"two-strix-halo-two-rails", FormThunder, 2, []string{"10.71.0.1", "10.71.0.5"}, false, `"addrs"`},
		{"connectx-in-an-enclosure", "", 2, []string{"10.71.0.1"}, true, `"mlx5_0"`},
		{"no-ipv4-on-the-port", "", 2, []string{"192.168.1.11"}, false, `"ips"`},  // falls back to the network they share
		{"three-pcs-on-a-switch", "", 3, []string{"10.77.1.1"}, false, `"addrs"`}, // the fast network
		{"three-pcs-on-a-switch", FormMLX, 3, []string{"10.77.1.1"}, false, `"ips"`},
	}
	for _, tt := range tests {
		t.Run(tt.story+tt.form, func(t *testing.T) {
			text, err := story(t, tt.story).MarshalHostfile(tt.form)
			if err != nil {
				t.Fatal(err)
			}
			h, err := rendezvous.ParseHostfile("", text)
			if err != nil {
				t.Fatal(err)
			}
			if len(h.Hosts) != tt.hosts || strings.Join(h.Hosts[0].Addrs, " ") != strings.Join(tt.first, " ") ||
				(len(h.Hosts[0].RDMA) > 0) != tt.rdma || !strings.Contains(string(text), tt.says) {
				t.Errorf("hostfile\n%s", text)
			}
			if _, err := h.Peers(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestHostfileWithoutAddresses(t *testing.T) {
	ms := macs(2, 2)
	plugIn(ms, 0, 1, 1, 1)
	if _, err := Build(ms).MarshalHostfile(""); !errors.Is(err, ErrNoAddress) {
		t.Errorf("error %v", err)
	}
	if _, err := Build(ms).MarshalHostfile("xml"); err == nil {
		t.Error("an unknown form is accepted")
	}
}

// onSwitch returns two machines, each with an interface in every one of the networks.
func onSwitch(kind string, networks int) []*probe.Machine {
	var ms []*probe.Machine
	for i := range 2 {
		m := &probe.Machine{Host: fmt.Sprintf("pc%d", i), OS: probe.OS{Kind: "linux"}}
		for n := range networks {
			addr := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 77, byte(n), byte(i + 1)}), 24)
			m.Interfaces = append(m.Interfaces, probe.Interface{Name: fmt.Sprintf("vA%d", n), Kind: kind, Running: true, Mbps: 10000, Addrs: []netip.Prefix{addr}})
		}
		ms = append(ms, m)
	}
	return ms
}

// Machines on a switch need no cables, whatever their interfaces are called, and each
// network that they share is a rail.
func TestSwitched(t *testing.T) {
	for _, kind := range []string{"", "veth", "bond", "bridge", "vlan"} {
		for networks := 1; networks <= 2; networks++ {
			g := Build(onSwitch(kind, networks))
			if g.Shape.Name != Switched || !strings.Contains(g.Sentence(), "joined by 10.77.0.0/24 (pc0 vA0, pc1 vA0), 10 Gb/s") {
				t.Errorf("kind %q: %s: %s", kind, g.Shape.Name, g.Sentence())
				continue
			}
			h, err := g.Hostfile()
			if err != nil {
				t.Fatal(err)
			}
			if want := []string{"10.77.0.2", "10.77.1.2"}[:networks]; !slices.Equal(h.Hosts[1].Addrs, want) {
				t.Errorf("kind %q: addresses %v, want %v", kind, h.Hosts[1].Addrs, want)
			}
			var b bytes.Buffer
			if err := g.WriteTable(&b, 0); err != nil || strings.Contains(b.String(), "No cable") || strings.Count(b.String(), "joined by") != networks {
				t.Errorf("%v\n%s", err, b.String())
			}
			b.Reset()
			if err := g.WriteSVG(&b); err != nil || strings.Count(b.String(), "<line") != 2 || !strings.Contains(b.String(), ">10.77.0.0/24<") {
				t.Errorf("%v\n%s", err, b.String())
			}
			b.Reset()
			if err := g.WriteDOT(&b); err != nil || !strings.Contains(b.String(), "m1 -- n0") {
				t.Errorf("%v\n%s", err, b.String())
			}
		}
	}
}

// The same address on two machines is that of a network inside each of them.
func TestSameAddressIsNoNetwork(t *testing.T) {
	ms := onSwitch("bridge", 1)
	ms[1].Interfaces[0].Addrs = ms[0].Interfaces[0].Addrs
	if g := Build(ms); g.Shape.Name != Broken || len(g.Networks) != 0 {
		t.Errorf("%s, networks %v", g.Shape.Name, g.Networks)
	}
}
