package hosts

import (
	"strings"
	"testing"

	"thundercollective/internal/rendezvous"
)

func TestEdges(t *testing.T) {
	file, err := rendezvous.ParseHostfile("", []byte(`{"hosts":[
		{"name":"left","ssh":"me@a","addrs":["10.0.0.1","fe80::1%en5"]},
		{"name":"middle","ssh":"b","slots":2,"addrs":["10.0.0.2","10.0.1.1"]},
		{"name":"right","ssh":"c","addrs":["10.0.1.2:7000"]}],
		"edges":[["left","middle","10"],["middle","right"],["10.0.1.1","10.0.1.2","2.5"]]}`))
	if err != nil {
		t.Fatal(err)
	}
	list, err := FromHostfile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		edges string // "" for the hostfile's
		ranks int
		want  string
	}{
		{"", 4, "0=1@10,0=2@10,1=3,2=3,10.0.1.1=10.0.1.2@2.5"},
		{"", 3, "0=1@10,0=2@10"},
		{"", 2, "0=1@10"},
		{"", 1, ""},
		{"a-b,c=a", 4, "0=1,0=2,3=0"},
		{"0-3@1,right=2", 4, "0=3@1,3=2"},
		{"fe80::1=10.0.1.2", 4, "fe80::1=10.0.1.2"},
		{"left/0-1.3=middle/0-3.1@40", 4, "0/0-1.3=1/0-3.1@40,0/0-1.3=2/0-3.1@40"},
	} {
		specs := file.EdgeSpecs()
		if tt.edges != "" {
			if specs, err = rendezvous.ParseEdges(tt.edges); err != nil {
				t.Fatal(err)
			}
		}
		cut, err := First(list, tt.ranks)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Edges(specs, list, Place(cut))
		if err != nil || got != tt.want {
			t.Errorf("%q on %d ranks: %q, %v, want %q", tt.edges, tt.ranks, got, err, tt.want)
		}
		if got == "" {
			continue
		}
		if _, err := rendezvous.ParseEdges(got); err != nil {
			t.Errorf("%q is not what a rank reads: %v", got, err)
		}
	}
	for edges, want := range map[string]string{"0-4": "rank 4 does not exist; the job has 4 ranks", "left=up": `"up" is not a rank, a host, or an address`, "10.0.0.9=0": "me@a, b, c"} {
		specs, err := rendezvous.ParseEdges(edges)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Edges(specs, list, Place(list)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", edges, err, want)
		}
	}
}
