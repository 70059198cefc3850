package wiring

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rdma"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/rendezvous"
)

func TestDeviceRow(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	hosts := file("hosts.json", `[{"ssh":"a","ips":["10.0.0.1"],"rdma":[null,"en5",["en2","en3"]]},
		{"ssh":"b","ips":["10.0.0.2"],"rdma":["en4",null,null]},{"ssh":"c","ips":["10.0.0.3"],"rdma":[["en2","en3"],null,null]}]`)
	matrix := file("matrix.json", `[[null,"en5",["en2","en3"]],["en4",null,null],[["en2","en3"],null,null]]`)
	want := [][]string{nil, {"en5"}, {"en2", "en3"}}
	for _, tt := range []struct {
		name string
		o    Config
		mlx  string
		want [][]string
		err  string
	}{
		{"nobody says", Config{}, "", nil, ""},
		{"the options", Config{Devices: []string{"x"}, Hostfile: hosts}, matrix, [][]string{{"x"}, {"x"}, {"x"}}, ""},
		{"the hostfile", Config{Hostfile: hosts}, "", want, ""},
		{"the launcher", Config{}, matrix, want, ""},
		{"no file", Config{}, filepath.Join(dir, "none"), nil, "MLX_IBV_DEVICES"},
		{"no matrix", Config{}, file("list.json", `["a"]`), nil, "MLX_IBV_DEVICES"},
		{"too small", Config{}, file("small.json", `[[null]]`), nil, "3 ranks"},
		{"a number", Config{}, file("number.json", `[[null,5,null],[],[]]`), nil, "entry 0,1 is 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			roster := &rendezvous.Roster{Rank: 0, Peers: make([]rendezvous.Peer, 3)}
			env := map[string]string{"MLX_IBV_DEVICES": tt.mlx}
			got, err := deviceRow(roster, tt.o, func(k string) string { return env[k] })
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

// TestAutoWithoutRDMA joins two ranks that are said to be on different machines, on
// one that has no RDMA: they use TCP, and say so.
func TestAutoWithoutRDMA(t *testing.T) {
	if devs, _ := filepath.Glob("/sys/class/infiniband/*"); len(devs) > 0 {
		t.Skipf("SKIPPED: this machine has RDMA devices: %v", devs)
	}
	roster := rendezvous.Roster{Peers: []rendezvous.Peer{{Host: "a", Machine: "a"}, {Host: "b", Machine: "b"}}}
	lns := make([]*tcp.Listener, 2)
	for r := range lns {
		ln, err := tcp.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		lns[r], roster.Peers[r].Addrs = ln, ln.Addrs()
	}
	fs := make([]fabric.Fabric, 2)
	for r, ln := range lns {
		mine := roster
		mine.Rank = r
		w, err := Open(ln, &mine, Config{Fabric: "auto"})
		if err != nil {
			t.Fatal(err)
		}
		fs[r] = w.Fabric()
		defer fs[r].Close()
	}
	if fs[0].Name() != "tcp" {
		t.Errorf("the fabric is called %q", fs[0].Name())
	}
	ctx := context.Background()
	got := make(chan error, 1)
	go func() {
		l, err := fs[1].Link(ctx, 0, 2)
		if err == nil {
			err = l.Recv(ctx, &fabric.Tag{}, make([]byte, 5))
		}
		got <- err
	}()
	l, err := fs[0].Link(ctx, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := fabric.Send(ctx, l, &fabric.Tag{}, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	paths := fs[0].(*rdma.Fabric).Paths()
	if len(paths) != 1 || paths[0].RDMA || paths[0].Reason == "" {
		t.Errorf("paths are %v", paths)
	}
}

// TestDevicesOfSlots checks that every rank of a host has the host's devices.
func TestDevicesOfSlots(t *testing.T) {
	h := &rendezvous.Hostfile{Hosts: []rendezvous.Host{{Slots: 2, RDMA: [][]string{nil, {"en5"}}}, {RDMA: [][]string{{"en4"}, nil}}}}
	for rank, want := range [][][]string{{nil, nil, {"en5"}}, {nil, nil, {"en5"}}, {{"en4"}, {"en4"}, nil}} {
		if got := h.Devices(rank); !reflect.DeepEqual(got, want) {
			t.Errorf("rank %d: got %v, want %v", rank, got, want)
		}
	}
}
