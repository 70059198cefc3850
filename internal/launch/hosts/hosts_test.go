package hosts

import (
	"reflect"
	"strings"
	"testing"

	"thundercollective/internal/rendezvous"
)

func TestParseList(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []Host
		err  string
	}{
		{in: "a", want: []Host{{Name: "a", Slots: 1}}},
		{in: "a, b:2,me@c", want: []Host{{Name: "a", Slots: 1}, {Name: "b", Slots: 2}, {Name: "me@c", Slots: 1}}},
		{in: "10.0.0.1:4", want: []Host{{Name: "10.0.0.1", Slots: 4, Addrs: []string{"10.0.0.1"}}}},
		{in: "fd00::1", want: []Host{{Name: "fd00::1", Slots: 1, Addrs: []string{"fd00::1"}}}},
		{in: "[fd00::1]:3", want: []Host{{Name: "fd00::1", Slots: 3, Addrs: []string{"fd00::1"}}}},
		{in: "localhost:2", want: []Host{{Name: "localhost", Slots: 2}}},
		{in: "", err: "empty host name"},
		{in: "a,,b", err: "host 2"},
		{in: "a:0", err: "slots"},
		{in: "a:x", err: "slots"},
		{in: "a:99999", err: "slots"},
		{in: "[fd00::1", err: "bracket"},
		{in: "[fd00::1]3", err: "expected :slots"},
		{in: "-oProxyCommand=x", err: "dash"},
		{in: "a b", err: "space"},
	} {
		got, err := ParseList(tt.in)
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("ParseList(%q): error %v, want one with %q", tt.in, err, tt.err)
		} else if err == nil && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("ParseList(%q) = %+v, want %+v", tt.in, got, tt.want)
		}
	}
}

func TestFromHostfile(t *testing.T) {
	f, err := rendezvous.ParseHostfile("h.json", []byte(`[
		{"ssh": "me@a", "ips": ["10.0.0.1", "10.1.0.1:700"], "rdma": [null, "rdma_en5"]},
		{"ips": ["10.0.0.2"], "rdma": [["rdma_en4", "rdma_en5"], null], "slots": 2}
	]`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := FromHostfile(f)
	if err != nil {
		t.Fatal(err)
	}
	want := []Host{
		{Name: "me@a", Label: "a", Slots: 1, Addrs: []string{"10.0.0.1", "10.1.0.1"}, RDMA: [][]string{nil, {"rdma_en5"}}},
		{Name: "10.0.0.2", Label: "10.0.0.2", Slots: 2, Addrs: []string{"10.0.0.2"}, RDMA: [][]string{{"rdma_en4", "rdma_en5"}, nil}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	f.Hosts[0].SSH = "-oProxyCommand=x"
	if _, err := FromHostfile(f); err == nil || !strings.Contains(err.Error(), "dash") {
		t.Errorf("an option as a host name: %v", err)
	}
}

func TestPlace(t *testing.T) {
	list := []Host{
		{Name: "a", Slots: 1, RDMA: [][]string{nil, {"d1"}, {"d2"}}},
		{Name: "b", Slots: 2, RDMA: [][]string{{"d3"}, nil, {"d4"}}},
		{Name: "a", Slots: 1, RDMA: [][]string{nil, {"d5"}, nil}},
	}
	p := Place(list)
	if want := []Machine{{Name: "a", Ranks: []int{0, 3}}, {Name: "b", Ranks: []int{1, 2}}}; !reflect.DeepEqual(p.Machines, want) {
		t.Errorf("machines %+v", p.Machines)
	}
	if want := []Rank{{0, 0, 0}, {1, 0, 1}, {1, 1, 1}, {0, 1, 2}}; !reflect.DeepEqual(p.Ranks, want) {
		t.Errorf("ranks %+v", p.Ranks)
	}
	want := [][][]string{
		{nil, {"d1"}, {"d1"}, {"d2"}},
		{{"d3"}, nil, nil, {"d4"}},
		{{"d3"}, nil, nil, {"d4"}},
		{nil, {"d5"}, {"d5"}, nil},
	}
	if got := Devices(list, p); !reflect.DeepEqual(got, want) {
		t.Errorf("devices %+v", got)
	}
	list[1].RDMA = nil
	if Devices(list, p) != nil {
		t.Error("devices although a host names none")
	}
}

func TestFirst(t *testing.T) {
	list := []Host{{Name: "a", Slots: 1}, {Name: "b", Slots: 3}, {Name: "c", Slots: 1}}
	for n, want := range map[int][]Host{
		1: {{Name: "a", Slots: 1}},
		3: {{Name: "a", Slots: 1}, {Name: "b", Slots: 2}},
		5: list,
		6: nil,
		0: nil,
	} {
		got, err := First(list, n)
		if !reflect.DeepEqual(got, want) || (err == nil) != (want != nil) {
			t.Errorf("First(%d) = %+v, %v, want %+v", n, got, err, want)
		}
	}
}
