package setup

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"thundercollective/internal/topology"
	"thundercollective/internal/topology/probe"
)

// story builds the graph of a captured cluster, after change was made to it.
func story(t *testing.T, name string, change func(ms []*probe.Machine)) *topology.Graph {
	t.Helper()
	ms, err := probe.Captured(context.Background(), "../doctor/testdata/stories/"+name+".txtar")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(ms)
	}
	return topology.Build(ms)
}

func mustPlan(t *testing.T, g *topology.Graph) []Plan {
	t.Helper()
	plans, skipped, err := MakePlans(g)
	if err != nil || len(skipped) > 0 {
		t.Fatal(err, skipped)
	}
	for i := range plans {
		if err := plans[i].Validate(); err != nil {
			t.Error(err)
		}
	}
	return plans
}

func TestPlansFaceEachOther(t *testing.T) {
	for _, name := range []string{"bridge-holds-the-port", "no-ipv4-on-the-port", "four-macs-mesh", "two-macs-two-cables", "two-strix-halo-two-rails", "one-controller-two-cables"} {
		t.Run(name, func(t *testing.T) {
			plans := mustPlan(t, story(t, name, nil))
			owner, seen := map[netip.Addr]Port{}, map[netip.Prefix]int{}
			for _, p := range plans {
				for _, port := range p.Ports {
					if _, twice := owner[port.Address.Addr()]; twice {
						t.Errorf("%s is given out twice", port.Address)
					}
					owner[port.Address.Addr()] = port
					seen[port.Address.Masked()]++
				}
			}
			for _, port := range owner {
				far, ok := owner[port.Peer]
				if !ok || far.Peer != port.Address.Addr() || far.MTU != port.MTU || far.Cable != port.Cable {
					t.Errorf("%v and %v do not face each other", port, far)
				}
			}
			for net, n := range seen {
				if n != 2 {
					t.Errorf("%s has %d ends", net, n)
				}
			}
		})
	}
}

func TestKeepsWhatIsRight(t *testing.T) {
	g := story(t, "two-macs-one-cable", nil)
	port := mustPlan(t, g)[0].Ports[0]
	if want := netip.MustParsePrefix("10.71.0.1/30"); port.Address != want {
		t.Errorf("a port that has %v already is to get %v", want, port.Address)
	}
	state := interfaceState(g.Machines[0].Interface(port.Interface))
	if steps := forward("darwin", state, port); len(steps) > 0 {
		t.Errorf("nothing is wrong, and yet: %v", steps)
	}
}

func TestSameAddressesWhoeverIsAsked(t *testing.T) {
	both := mustPlan(t, story(t, "no-ipv4-on-the-port", nil))
	for i := range 2 {
		// Each machine alone: of the other one, only the identity is known.
		ms := story(t, "no-ipv4-on-the-port", nil).Machines
		alone := mustPlan(t, topology.Build(ms[i:i+1]))
		if got, want := alone[0].Ports[0].Address, both[i].Ports[0].Address; got != want {
			t.Errorf("%s alone plans %v, together %v", alone[0].Host, got, want)
		}
	}
}

func TestAvoidsNetworksInUse(t *testing.T) {
	tests := map[string]func(m *probe.Machine){
		"address": func(m *probe.Machine) {
			m.Interfaces = append(m.Interfaces, probe.Interface{Name: "utun3", Addrs: []netip.Prefix{netip.MustParsePrefix("10.9.0.4/8")}})
		},
		"route": func(m *probe.Machine) {
			m.Routes = append(m.Routes, probe.Route{Dst: netip.MustParsePrefix("10.0.0.0/8"), Interface: "utun3"})
		},
	}
	for name, occupy := range tests {
		t.Run(name, func(t *testing.T) {
			g := story(t, "no-ipv4-on-the-port", func(ms []*probe.Machine) { occupy(ms[1]) })
			for _, p := range mustPlan(t, g) {
				if a := p.Ports[0].Address; netip.MustParsePrefix("10.0.0.0/8").Contains(a.Addr()) {
					t.Errorf("%s gets %v, which collides", p.Host, a)
				}
			}
		})
	}
	t.Run("all of it", func(t *testing.T) {
		g := story(t, "no-ipv4-on-the-port", func(ms []*probe.Machine) {
			for _, p := range pools {
				ms[0].Routes = append(ms[0].Routes, probe.Route{Dst: p, Interface: "x"})
			}
		})
		if _, _, err := MakePlans(g); err == nil || !strings.Contains(err.Error(), "no free addresses") {
			t.Errorf("error %v", err)
		}
	})
}

func TestNothingToDo(t *testing.T) {
	if _, _, err := MakePlans(story(t, "nothing-to-cable", nil)); !errors.Is(err, ErrNothingToDo) {
		t.Errorf("error %v", err)
	}
	_, skipped, err := MakePlans(story(t, "seen-from-one-end", nil))
	if !errors.Is(err, ErrNothingToDo) || len(skipped) != 1 {
		t.Errorf("a cable with one end: %v, skipped %v", err, skipped)
	}
}

func TestValidate(t *testing.T) {
	good := Port{Interface: "en4", Address: netip.MustParsePrefix("10.71.0.1/30"), MTU: 9000}
	tests := map[string]func(p *Plan){
		"":                         func(p *Plan) {},
		"is not supported":         func(p *Plan) { p.OS = "plan9" },
		"not an interface name":    func(p *Plan) { p.Ports[0].Interface = "-all" },
		"is not an interface name": func(p *Plan) { p.Ports[0].Interface = "../etc" },
		"occurs twice":             func(p *Plan) { p.Ports = append(p.Ports, p.Ports[0]) },
		"not a private IPv4":       func(p *Plan) { p.Ports[0].Address = netip.MustParsePrefix("8.8.8.8/30") },
		"small network":            func(p *Plan) { p.Ports[0].Address = netip.MustParsePrefix("10.0.0.1/8") },
		"MTU":                      func(p *Plan) { p.Ports[0].MTU = 100 },
	}
	for want, change := range tests {
		p := Plan{Host: "x", OS: "linux", Ports: []Port{good}}
		change(&p)
		err := p.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// A fakeMac answers the commands that setup runs on macOS.
type fakeMac struct {
	bridge []string
	mtu    int
	addr   netip.Prefix
	log    []string
}

func (f *fakeMac) run(_ context.Context, argv ...string) ([]byte, error) {
	line := strings.Join(argv, " ")
	switch {
	case line == "ifconfig -a":
		var b strings.Builder
		fmt.Fprintf(&b, "en4: flags=8863<UP,BROADCAST,RUNNING> mtu %d\n\tether 36:05:f5:48:96:57\n", f.mtu)
		if f.addr.IsValid() {
			fmt.Fprintf(&b, "\tinet %s netmask 0xfffffffc\n", f.addr.Addr())
		}
		fmt.Fprint(&b, "bridge0: flags=8863<UP> mtu 1500\n")
		for _, m := range f.bridge {
			fmt.Fprintf(&b, "\tmember: %s flags=3<LEARNING,DISCOVER>\n", m)
		}
		return []byte(b.String()), nil
	case line == "ifconfig bridge0 deletem en4":
		f.bridge = nil
	case line == "ifconfig bridge0 addm en4":
		f.bridge = []string{"en4"}
	case strings.HasPrefix(line, "ifconfig en4 mtu "):
		fmt.Sscan(argv[3], &f.mtu)
	case strings.HasSuffix(line, " -alias"):
		f.addr = netip.Prefix{}
	case strings.HasSuffix(line, " alias"):
		f.addr = netip.MustParsePrefix(argv[3])
	default:
		return nil, fmt.Errorf("unexpected command %q", line)
	}
	f.log = append(f.log, line)
	return nil, nil
}

func TestMac(t *testing.T) {
	plan := mustPlan(t, story(t, "bridge-holds-the-port", nil))[0]
	mac := &fakeMac{bridge: []string{"en4"}, mtu: 1500}
	m := &Machine{Run: mac.run, StateDir: t.TempDir()}
	if err := m.Apply(context.Background(), &plan); err != nil {
		t.Fatal(err)
	}
	addr := plan.Ports[0].Address
	if mac.addr != addr || mac.mtu != 9000 || len(mac.bridge) > 0 {
		t.Errorf("after apply: %+v", mac)
	}
	if err := m.Undo(context.Background()); err != nil {
		t.Fatal(err)
	}
	if mac.addr.IsValid() || mac.mtu != 1500 || len(mac.bridge) != 1 {
		t.Errorf("after undo: %+v", mac)
	}
	want := []string{
		"ifconfig bridge0 deletem en4", "ifconfig en4 mtu 9000", "ifconfig en4 inet " + addr.String() + " alias",
		"ifconfig en4 inet " + addr.Addr().String() + " -alias", "ifconfig en4 mtu 1500", "ifconfig bridge0 addm en4",
	}
	if !slices.Equal(mac.log, want) {
		t.Errorf("ran\n%s\nwant\n%s", strings.Join(mac.log, "\n"), strings.Join(want, "\n"))
	}
}
