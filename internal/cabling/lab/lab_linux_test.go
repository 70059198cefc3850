package lab_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"thundercollective/internal/cabling/lab"
)

// TestNamesakes: two machines with one name, which meet at a coordinator, are two: both
// rails between them are used, and messages tell them apart.
func TestNamesakes(t *testing.T) {
	l := lab.New(t, 2, lab.Cable{A: 0, B: 1}, lab.Cable{A: 0, B: 1})
	r, _ := play(t, l, task{Do: "allreduce", Elems: 2 << 20, Iters: 3, Coordinator: l.Addr(0, 0) + ":7399"}, nil)
	if len(r.Rails) != 2 {
		t.Errorf("rails %+v", r.Rails)
	}
	for _, rail := range r.Rails {
		if rail.Sent < 1<<20 {
			t.Errorf("hardly anything over a rail: %+v", rail)
		}
	}
	if name, err := os.Hostname(); err != nil || !slices.Equal(r.Hosts, []string{name, name + "#2"}) {
		t.Errorf("hosts %q", r.Hosts)
	}
}

// TestTwoRails: every byte of both directions, over both cables.
//
//	[0]═══c0═══[1]
//	 ╚════c1════╝
func TestTwoRails(t *testing.T) {
	l := lab.New(t, 2, lab.Cable{A: 0, B: 1}, lab.Cable{A: 0, B: 1})
	for _, do := range []string{"allreduce", "pingpong"} {
		r, _ := play(t, l, task{Do: do, Elems: 2 << 20, Iters: 3}, nil)
		if len(r.Rails) != 2 {
			t.Fatalf("%s: rails %+v", do, r.Rails)
		}
		for _, rail := range r.Rails {
			if rail.Sent == 0 || rail.Recv == 0 || rail.Device == "" || !rail.Up {
				t.Errorf("%s: rail %+v carried nothing in a direction", do, rail)
			}
		}
	}
}

// TestCutAndRestored: a cable is cut while messages pass, and put back later.
//
//	[0]═══c0═══[1]
//	 ╚══ ✂ c1 ══╝
func TestCutAndRestored(t *testing.T) {
	l := lab.New(t, 2, lab.Cable{A: 0, B: 1, Mbps: 500}, lab.Cable{A: 0, B: 1, Mbps: 500})
	var cut chan struct{}
	r, logs := play(t, l, task{Do: "allreduce", Elems: 1 << 20, Iters: 60, Signal: 10}, func(i int) {
		switch i {
		case 10:
			cut = make(chan struct{})
			go func() { defer close(cut); l.Cut(1) }() // in the middle of the next ones
		case 30:
			<-cut
			l.Restore(1)
		}
	})
	n := 0
	for _, rail := range r.Rails {
		n += rail.Failovers
	}
	if n == 0 || strings.Count(logs, "rail lost") == 0 {
		t.Errorf("no failover was noticed: %+v\n%s", r.Rails, logs)
	}
	if strings.Count(logs, "rail lost") > 2*n+2 {
		t.Errorf("more than a line for each failover:\n%s", logs)
	}
}

// TestRing: neighbours are joined, and nobody else; all-to-all has to be relayed.
//
//	[0]──c0──[1]
//	 │        │
//	c3       c1
//	 │        │
//	[3]──c2──[2]
func TestRing(t *testing.T) {
	l := lab.New(t, 4, lab.Cable{A: 0, B: 1}, lab.Cable{A: 1, B: 2}, lab.Cable{A: 2, B: 3}, lab.Cable{A: 3, B: 0})
	for _, do := range []string{"allreduce", "alltoall"} {
		play(t, l, task{Do: do, Edges: l.Edges(), Elems: 1 << 20, Iters: 2}, nil)
	}
}

// TestChain: the ends talk through the middle.
//
//	[0]──c0──[1]──c1──[2]──c2──[3]
func TestChain(t *testing.T) {
	l := lab.New(t, 4, lab.Cable{A: 0, B: 1}, lab.Cable{A: 1, B: 2}, lab.Cable{A: 2, B: 3})
	for _, do := range []string{"oneway", "alltoall", "allreduce"} {
		play(t, l, task{Do: do, Edges: l.Edges(), Elems: 1 << 20, Iters: 2}, nil)
	}
}

// TestRelayBehindRails: there are two cables to the relay, and one beyond.
//
//	[0]═══c0═══[1]──c2──[2]
//	 ╚════c1════╝
func TestRelayBehindRails(t *testing.T) {
	l := lab.New(t, 3, lab.Cable{A: 0, B: 1}, lab.Cable{A: 0, B: 1}, lab.Cable{A: 1, B: 2})
	for _, do := range []string{"oneway", "pingpong", "alltoall", "allreduce"} {
		play(t, l, task{Do: do, Edges: l.Edges(), Elems: 3 << 18, Iters: 2}, nil)
	}
}

// TestMesh: every two machines have a cable of their own, one pair has two. Nobody says
// which addresses belong together; each finds those in its own subnets.
//
//	[0]═══c0═══[1]
//	 ║╚═══c1════╝│
//	 c3         c2
//	 ╚═══[2]─────┘
func TestMesh(t *testing.T) {
	l := lab.New(t, 3, lab.Cable{A: 0, B: 1}, lab.Cable{A: 0, B: 1}, lab.Cable{A: 1, B: 2}, lab.Cable{A: 0, B: 2})
	for _, do := range []string{"allreduce", "alltoall", "pingpong"} {
		r, _ := play(t, l, task{Do: do, Elems: 3 << 18, Iters: 2}, nil)
		var devices []string
		for _, rail := range r.Rails {
			if rail.Peer != 1 {
				t.Errorf("%s: rails to rank %d: %+v", do, rail.Peer, r.Rails)
			}
			devices = append(devices, rail.Device)
		}
		slices.Sort(devices)
		if !slices.Equal(devices, []string{"c0", "c1"}) {
			t.Errorf("%s: the rails to rank 1 are %v", do, devices)
		}
	}
}

// TestBadInput: what is wrong with addresses and cables is said with the hosts and the
// interfaces that it is about.
//
//	[0]──c0──[1]──c1──[2]
func TestBadInput(t *testing.T) {
	l := lab.New(t, 3, lab.Cable{A: 0, B: 1}, lab.Cable{A: 1, B: 2})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		addrs []string
		edges string
		want  []string
	}{
		{"rails that do not pair", []string{"10.90.0.1:7400", "10.90.0.2:7400,10.90.1.1:7400", "10.90.1.2:7400,10.90.1.3:7400"}, "",
			[]string{"rank 0 on 10.90.0.1", "10.90.0.1/24 on c0", "rank 2 on 10.90.1.2", "10.90.1.3:7400", "do not pair"}},
		{"an address on no interface", []string{"10.90.0.1:7400,10.99.9.9:7400", "10.90.0.2:7400,10.99.9.8:7400"}, "",
			[]string{"rank 0", "10.99.9.9:7400", "no interface", host, "10.90.0.1/24 on c0"}},
		{"a zone is missing", []string{"10.90.0.1:7400,[fe80::1]:7400", "10.90.0.2:7400,[fe80::2%c0]:7400"}, "",
			[]string{"rank 0", "[fe80::1]:7400", "needs its interface", host, "10.90.0.1/24 on c0"}},
		{"another rank's zone is missing", []string{"10.90.0.1:7400,[fe80::1%c0]:7400", "10.90.0.2:7400,[fe80::2]:7400"}, "",
			[]string{"rank 1", "[fe80::2]:7400", "needs its interface"}},
		{"a rank is out of reach", []string{"10.90.0.1:7400", "10.90.0.2:7400", "10.90.1.2:7400"}, "0-1",
			[]string{"from rank 0 on 10.90.0.1", "to rank 2 on 10.90.1.2", "edges"}},
		{"a cable to nobody", []string{"10.90.0.1:7400", "10.90.0.2:7400", "10.90.1.2:7400"}, "0-1,1-2,2-5",
			[]string{"no rank 5 in a job of 3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := json.Marshal(task{Addrs: tt.addrs, Edges: tt.edges})
			if err != nil {
				t.Fatal(err)
			}
			cmd := l.Command(0, self)
			cmd.Env = append(os.Environ(), rankVar+"="+string(text))
			out, err := cmd.CombinedOutput()
			for _, want := range tt.want {
				if err == nil || !strings.Contains(string(out), want) {
					t.Errorf("got %v, %s, want %q", err, out, want)
				}
			}
		})
	}
}
