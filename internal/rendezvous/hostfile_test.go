package rendezvous

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestHostfileForms(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Peer
	}{
		{"mlx ranks", `[["10.0.0.1:7000","10.1.0.1:7000"],["10.0.0.2:7000"]]`, []Peer{
			{"10.0.0.1", []string{"10.0.0.1:7000", "10.1.0.1:7000"}, listed(0)},
			{"10.0.0.2", []string{"10.0.0.2:7000"}, listed(1)},
		}},
		{"mlx hosts", `[{"ssh":"me@h1","ips":["10.0.0.1"],"rdma":[null,"rdma_en5"]},{"ssh":"h2","ips":["10.0.0.2"],"rdma":[["rdma_en2","rdma_en3"],null]}]`, []Peer{
			{"h1", []string{"10.0.0.1:32323"}, listed(0)},
			{"h2", []string{"10.0.0.2:32323"}, listed(1)},
		}},
		{"mlx repeats a host", `[{"ssh":"h1","ips":["10.0.0.1"]},{"ssh":"h1","ips":["10.0.0.1"]}]`, []Peer{
			{"h1", []string{"10.0.0.1:32323"}, listed(0)},
			{"h1", []string{"10.0.0.1:32324"}, listed(0)},
		}},
		{"mlx object", `{"backend":"","envs":[],"hosts":[{"ssh":"h1","ips":["10.0.0.1"],"rdma":[]}]}`, []Peer{
			{"h1", []string{"10.0.0.1:32323"}, listed(0)},
		}},
		{"ours", `{"port":9000,"hosts":[
			{"name":"a","slots":2,"addrs":["10.0.0.1","[fe80::1%en5]:8000"]},
			{"name":"b","addrs":["fd00::2","fe80::2%en3"]},
			{"addrs":["Mac.local:5000"]}],"edges":[["a","b"],["a","b"],["b","mac.local"]]}`, []Peer{
			{"a", []string{"10.0.0.1:9000", "[fe80::1%en5]:8000"}, listed(0)},
			{"a", []string{"10.0.0.1:9001", "[fe80::1%en5]:8001"}, listed(0)},
			{"b", []string{"[fd00::2]:9000", "[fe80::2%en3]:9000"}, listed(2)},
			{"mac.local", []string{"mac.local:5000"}, listed(3)},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := ParseHostfile("cluster.json", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := h.Peers()
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Peers = %v, %v\nwant %v", got, err, tt.want)
			}
			if h.Size() != len(tt.want) {
				t.Errorf("Size = %d", h.Size())
			}
			sameAfterMarshal(t, h)
		})
	}
}

// sameAfterMarshal writes h, reads that, and compares.
func sameAfterMarshal(t *testing.T, h *Hostfile) {
	t.Helper()
	text, err := h.Marshal()
	if err != nil {
		t.Fatalf("Marshal: %v", err)
	}
	again, err := ParseHostfile(h.Path, text)
	if err != nil {
		t.Fatalf("reading %s: %v", text, err)
	}
	if got, want := bare(again), bare(h); !reflect.DeepEqual(got, want) {
		t.Errorf("after Marshal: %+v\nbefore: %+v", got, want)
	}
}

// bare returns h without the positions in its file.
func bare(h *Hostfile) Hostfile {
	b := *h
	b.Hosts = nil
	for _, host := range h.Hosts {
		host.at, host.field, host.addrsAt, host.addrsField = place{}, "", nil, ""
		host.Slots = host.slots()
		if len(host.Addrs) == 0 {
			host.Addrs = nil
		}
		for i, d := range host.RDMA {
			if len(d) == 0 {
				host.RDMA[i] = nil
			}
		}
		b.Hosts = append(b.Hosts, host)
	}
	if len(b.Envs) == 0 {
		b.Envs = nil
	}
	return b
}

func TestMarshalText(t *testing.T) {
	h := &Hostfile{
		Hosts: []Host{
			{Name: "a", SSH: "me@a.local", Slots: 2, Addrs: []string{"10.0.0.1"}, RDMA: [][]string{nil, {"rdma_en5"}}},
			{Name: "b", Addrs: []string{"10.0.0.2:7000"}, RDMA: [][]string{{"rdma_en2", "rdma_en3"}, nil}},
		},
		Edges: [][2]string{{"a", "b"}},
	}
	want := `{
  "hosts": [
    {"name":"a","ssh":"me@a.local","slots":2,"addrs":["10.0.0.1"],"rdma":[null,"rdma_en5"]},
    {"name":"b","addrs":["10.0.0.2:7000"],"rdma":[["rdma_en2","rdma_en3"],null]}
  ],
  "edges": [
    ["a","b"]
  ]
}
`
	got, err := h.Marshal()
	if err != nil || string(got) != want {
		t.Errorf("Marshal = %s, %v", got, err)
	}
	h.Edges = [][2]string{{"a", "z"}}
	if _, err := h.Marshal(); err == nil || !strings.Contains(err.Error(), `"z" is not the name of a host`) {
		t.Errorf("Marshal of a broken hostfile: %v", err)
	}
}

func TestMarshalMLX(t *testing.T) {
	h := &Hostfile{
		Hosts: []Host{
			{Name: "a", SSH: "me@a.local", Addrs: []string{"10.0.0.1", "10.1.0.1"}, RDMA: [][]string{nil, {"rdma_en5"}}},
			{Name: "b", SSH: "b.local", Addrs: []string{"10.0.0.2"}, RDMA: [][]string{{"rdma_en2", "rdma_en3"}, nil}},
		},
		Edges: [][2]string{{"a", "b"}},
	}
	want := `[
  {"ssh":"me@a.local","ips":["10.0.0.1","10.1.0.1"],"rdma":[null,"rdma_en5"]},
  {"ssh":"b.local","ips":["10.0.0.2"],"rdma":[["rdma_en2","rdma_en3"],null]}
]
`
	got, err := h.MarshalMLX()
	if err != nil || string(got) != want {
		t.Errorf("MarshalMLX = %s, %v", got, err)
	}
	h.Hosts[1].Slots = 2
	if _, err := h.MarshalMLX(); err == nil || err.Error() != "hostfile: hosts[1].slots: is 2, which MLX's format cannot express" {
		t.Errorf("MarshalMLX of a host with two ranks: %v", err)
	}
}

// TestHostfileErrors lists mistakes of users, and the messages that they get.
func TestHostfileErrors(t *testing.T) {
	lines := func(s ...string) string { return strings.Join(s, "\n") }
	tests := []struct{ text, want string }{
		{"", `c.json:1: is empty`},
		{" \n ", `c.json:2: is empty`},
		{lines(`{`, ` "hosts": [`, `  {"ssh": "a" "b"}`), `c.json:3: is not JSON: invalid character '"' after object key:value pair`},
		{`{"hosts":[`, `c.json:1: is not JSON: unexpected end of JSON input`},
		{`[] []`, `c.json:1: is not JSON: invalid character '[' after top-level value`},
		{`"h1"`, `c.json:1: is the string "h1"; it must be a list of hosts, or an object with the field "hosts"`},
		{`[]`, `c.json:1: hosts: lists no host`},
		{`{"port":1}`, `c.json:1: hosts: lists no host`},
		{lines(`{"hosts": [`, ` {"name": "a", "addrs": ["10.0.0.1"]},`, ` {"name": "b", "adrs": ["10.0.0.2"]}`, `]}`),
			`c.json:3: hosts[1].adrs: unknown field; the known ones are name, ssh, slots, addrs, ips, rdma`},
		{`{"nodes":[]}`, `c.json:1: nodes: unknown field; the known ones are backend, envs, port, hosts, edges`},
		{`{"hosts":[{"name":"a","name":"b"}]}`, `c.json:1: has the field "name" twice`},
		{lines(`[`, `["10.0.0.1:7000"],`, `["10.0.0.2:7000",`, ` "10.0.0.1"]]`), `c.json:4: [1][1]: "10.0.0.1" has no port; write host:port`},
		{`[["10.0.0.1:7000"],["10.0.0.1:7000"]]`, `c.json:1: [1][0]: "10.0.0.1:7000" makes 10.0.0.1:7000 an address of both rank 0 and rank 1`},
		{`[[]]`, `c.json:1: [0]: lists no address`},
		{`[[7]]`, `c.json:1: [0][0]: is the number 7; it must be a string`},
		{`[null]`, `c.json:1: [0]: is null; it must be an object, or a list of ip:port`},
		{`[["fe80::1:7000"]]`, `c.json:1: [0][0]: "fe80::1:7000" is link-local and needs its interface, as in [fe80::1:7000%en5]:7000`},
		{lines(`{"hosts":[`, `{"name":"a","ips":[`, `"[fe80::1]:7000"]}]}`), `c.json:3: hosts[0].ips[0]: "[fe80::1]:7000" is link-local and needs its interface, as in [fe80::1%en5]:7000`},
		{`{"hosts":[{"name":"a","addrs":["0.0.0.0:7000"]}]}`, `c.json:1: hosts[0].addrs[0]: "0.0.0.0:7000" is not an address that others can connect to; give one of the machine's own addresses`},
		{`{"hosts":[{"name":"a","addrs":["10.0.0.1:70000"]}]}`, `c.json:1: hosts[0].addrs[0]: "10.0.0.1:70000" has the port "70000"; a port is 1..65535`},
		{`{"hosts":[{"name":"a","addrs":["10.0.0.300"]}]}`, `c.json:1: hosts[0].addrs[0]: "10.0.0.300" is neither an IP address nor a host name`},
		{`{"hosts":[{"name":"a","slots":3,"addrs":["10.0.0.1:65534"]}]}`, `c.json:1: hosts[0].addrs[0]: "10.0.0.1:65534" would need port 65536 for rank 2`},
		{`{"hosts":[{"name":"a","addrs":[],"ips":[]}]}`, `c.json:1: hosts[0].ips: addrs and ips mean the same; give one of them`},
		{`{"hosts":[{"name":"a","slots":0}]}`, `c.json:1: hosts[0].slots: is the number 0; it must be a whole number from 1 to 4096`},
		{`{"hosts":[{"name":"a","slots":"2"}]}`, `c.json:1: hosts[0].slots: is the string "2"; it must be a whole number from 1 to 4096`},
		{`{"hosts":[{"name":"a","slots":4096},{"name":"b"}]}`, `c.json:1: hosts: lists 4097 ranks; a job has at most 4096`},
		{`{"hosts":[{"name":"a"},{"name":"a"}]}`, `c.json:1: hosts[1].name: "a" is already the name of hosts[0]; use slots for several ranks on one host`},
		{`{"hosts":[{"slots":1}]}`, `c.json:1: hosts[0]: has none of name, ssh and addrs`},
		{`{"hosts":[{"name":""}]}`, `c.json:1: hosts[0].name: is empty`},
		{`{"hosts":{"a":1}}`, `c.json:1: hosts: is an object; it must be a list of hosts`},
		{`{"hosts":[{"name":"a","rdma":[null,"x"]}]}`, `c.json:1: hosts[0].rdma: has 2 entries for 1 hosts; give one entry for each host, null for the host itself`},
		{`{"hosts":[{"name":"a","rdma":[true]}]}`, `c.json:1: hosts[0].rdma[0]: is true; it must be null, a device or a list of devices`},
		{lines(`{"hosts":[{"name":"a"},{"name":"b"}],`, `"edges":[["a","b"],`, `["a","c"]]}`), `c.json:3: edges[1][1]: "c" is not the name of a host`},
		{`{"hosts":[{"name":"a"}],"edges":[["a","a"]]}`, `c.json:1: edges[0]: joins "a" with itself`},
		{`{"hosts":[{"name":"a"},{"name":"b"}],"edges":[["a/0-1.3","b"]]}`, `c.json:1: edges[0]: a/0-1.3 and b: a cable for USB4 streams needs a service at both ends, as in halo1/0-1.3=halo2/0-3.1`},
		{`{"hosts":[{"name":"a"},{"name":"b"}],"edges":[["a/0-1.3","b/../x"]]}`, `c.json:1: edges[0]: "../x" is not a service of a Thunderbolt domain, such as 0-1.3; see /sys/bus/thunderbolt/devices`},
		{`{"hosts":[{"name":"a"},{"name":"b"}],"edges":[["a/0-1.3","a/0-3.1"]]}`, `c.json:1: edges[0]: joins "a" with itself`},
		{`{"hosts":[{"name":"a"}],"edges":[["a"]]}`, `c.json:1: edges[0]: has 1 names; a cable joins two hosts`},
		{strings.Repeat("[", 20) + strings.Repeat("]", 20), `c.json:1: is nested too deeply to be a hostfile`},
		{`[` + strings.Repeat(`["h:1"],`, MaxSize+1) + `["h:1"]]`, `c.json:1: [4097]: is one too many; a job has at most 4096 ranks`},
		{`[["h:1"` + strings.Repeat(`,"h:1"`, MaxRails) + `]]`, `c.json:1: [0]: lists 65 addresses; a rank has at most 64`},
		{strings.Repeat(" ", maxHostfile+1), `c.json: is larger than 1048576 bytes, too large for a hostfile`},
	}
	for _, tt := range tests {
		_, err := ParseHostfile("c.json", []byte(tt.text))
		if _, ok := errors.AsType[*HostfileError](err); !ok || err.Error() != tt.want {
			t.Errorf("%.80q\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestHostfileColumn(t *testing.T) {
	_, err := ParseHostfile("", []byte("[\n  [\"h:1\", 5]]"))
	herr, ok := errors.AsType[*HostfileError](err)
	if !ok || herr.Line != 2 || herr.Column != 11 || herr.Field != "[0][1]" {
		t.Errorf("%+v", err)
	}
}

// TestHostsWithoutAddresses: a launcher can use such a file, but ranks cannot find each
// other with it.
func TestHostsWithoutAddresses(t *testing.T) {
	h, err := ParseHostfile("c.json", []byte("{\"hosts\":[{\"ssh\":\"me@h1\"},\n{\"ssh\":\"h2\"}]}"))
	if err != nil {
		t.Fatal(err)
	}
	h.Hosts[0].Addrs = []string{"10.0.0.1"}
	_, err = h.Peers()
	want := `c.json:2: hosts[1].addrs: host "h2" has no address; list the addresses at which other hosts reach it`
	if err == nil || err.Error() != want {
		t.Errorf("Peers: %v\nwant %s", err, want)
	}
}

func TestReadHostfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	if err := os.WriteFile(path, []byte(`[["h:1"]]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, ` [["h:1"]]`} {
		h, err := ReadHostfile(p)
		if err != nil || h.Size() != 1 {
			t.Errorf("%s: %v, %v", p, h, err)
		}
	}
	if _, err := ReadHostfile(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func FuzzHostfile(f *testing.F) {
	f.Add([]byte(`[["10.0.0.1:7000","[fe80::1%en5]:7000"],["h2:7000"]]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ParseHostfile("c.json", data)
		if err != nil {
			herr, ok := errors.AsType[*HostfileError](err)
			if !ok {
				t.Fatalf("%q: untyped error %v", data, err)
			}
			if len(data) <= maxHostfile && (herr.Line < 1 || herr.Line > 1+strings.Count(string(data), "\n")) {
				t.Fatalf("%q: error on line %d: %v", data, herr.Line, err)
			}
			return
		}
		if n := h.Size(); n < 1 || n > MaxSize {
			t.Fatalf("%q: %d ranks", data, n)
		}
		sameAfterMarshal(t, h)
	})
}
