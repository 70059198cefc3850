package rendezvous

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// listed is the Machine of a listed rank that is the first of its machine.
func listed(first int) string { return opaque(fmt.Sprintf("of rank %d", first)) }

func TestOwnMachine(t *testing.T) {
	id := ownMachine()
	if !validMachine(id) || id != ownMachine() {
		t.Errorf("got %q, then %q", id, ownMachine())
	}
	if boot := bootID(); boot == "" || strings.Contains(id, boot[:8]) {
		t.Errorf("boot id %q, machine %q", boot, id)
	}
	if one, two := interfacesID(), interfacesID(); one == "" || one != two {
		t.Errorf("interfaces %q, then %q", one, two)
	}
	for _, bad := range []string{"", "ubuntu", id + "00", id[2:], "zz" + id[2:]} {
		if validMachine(bad) {
			t.Errorf("%q is taken for a machine", bad)
		}
	}
}

// TestListedMachines: ranks without any exchange are on one machine if they have an
// address, an ssh host or an entry of a hostfile in common, whatever its name.
func TestListedMachines(t *testing.T) {
	for _, tt := range []struct {
		addrs string // of each rank
		want  []int  // the first rank of its machine
	}{
		{"10.0.0.1:1 10.0.0.2:1", []int{0, 1}},
		{"10.0.0.1:1 10.0.0.1:2 10.0.0.2:1", []int{0, 0, 2}},
		{"10.0.0.1:1,10.1.0.1:1 10.0.0.2:1,10.1.0.2:1 10.1.0.1:2", []int{0, 1, 0}},
		{"10.0.0.1:1 10.1.0.1:1 10.0.0.1:2,10.1.0.1:2", []int{0, 0, 0}},
		{"10.0.0.9:1 10.0.0.1:1 10.1.0.1:1 10.0.0.1:2,10.1.0.1:2", []int{0, 1, 1, 1}},
		{"127.0.0.1:1 127.0.0.2:1", []int{0, 1}},
	} {
		peers, err := explicitPeers(0, strings.Fields(tt.addrs))
		if err != nil {
			t.Fatal(err)
		}
		for r, first := range tt.want {
			if peers[r].Machine != listed(first) {
				t.Errorf("%s: rank %d is not where rank %d is", tt.addrs, r, first)
			}
		}
	}
	h, err := ParseHostfile("", []byte(`[{"ssh":"me@desk","ips":["10.0.0.1"]},{"ssh":"desk","ips":["10.1.0.1"]},{"ssh":"desk2","ips":["10.0.0.2"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	peers, err := h.Peers()
	if err != nil || peers[0].Machine != peers[1].Machine || peers[1].Machine == peers[2].Machine {
		t.Errorf("%+v, %v", peers, err)
	}
}

// TestNamesakes: machines with one name are told apart in messages, machines with
// several names are one, and a cable cannot end at a name that two have.
func TestNamesakes(t *testing.T) {
	a, b, c := listed(0), listed(1), listed(2)
	r := Roster{Peers: []Peer{
		{Host: "ubuntu", Machine: a}, {Host: "ubuntu", Machine: b}, {Host: "ubuntu", Machine: a},
		{Host: "pod", Machine: b}, {Host: "ubuntu", Machine: c}, {Host: "pod", Machine: c},
	}}
	_, _, err := endOf("ubuntu", r.Peers)
	if err == nil || !strings.Contains(err.Error(), "of rank 0 and of rank 1") {
		t.Errorf("a cable of all machines called ubuntu: %v", err)
	}
	if ranks, _, err := endOf("ubuntu", r.Peers[2:3]); err != nil || len(ranks) != 1 {
		t.Errorf("%v, %v", ranks, err)
	}
	tellApart(r.Peers)
	var names []string
	for _, p := range r.Peers {
		names = append(names, p.Host)
	}
	if want := []string{"ubuntu", "ubuntu#2", "ubuntu", "pod", "ubuntu#3", "pod#2"}; !reflect.DeepEqual(names, want) {
		t.Errorf("names %v, want %v", names, want)
	}
	if got, want := r.Machines(), []string{"ubuntu", "ubuntu#2", "ubuntu", "ubuntu#2", "ubuntu#3", "ubuntu#3"}; !reflect.DeepEqual(got, want) {
		t.Errorf("machines %v, want %v", got, want)
	}
	if r.OneMachine() || !r.SameMachine(1, 3) || r.SameMachine(0, 1) {
		t.Error("names count")
	}
}
