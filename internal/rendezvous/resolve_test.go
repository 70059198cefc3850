package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"thundercollective/internal/freeaddr"
	"thundercollective/internal/leaks"
	"thundercollective/internal/rendezvous/handshake"
)

// A data opens listeners as a fabric does, and closes them with the test.
type data struct {
	t      *testing.T
	called bool
	at     []string
}

func (d *data) listen(at []string) (addrs []string, err error) {
	d.called, d.at = true, at
	for _, a := range at {
		ln, err := net.Listen("tcp", a)
		if err != nil {
			return nil, err
		}
		d.t.Cleanup(func() { ln.Close() })
		addrs = append(addrs, ln.Addr().String())
	}
	return addrs, nil
}

// noneLeft checks that no goroutines are left but those that were there before.
func noneLeft(t *testing.T, before goleak.Option) {
	t.Helper()
	if err := leaks.Find(before); err != nil {
		t.Error(err)
	}
}

func TestResolveAlone(t *testing.T) {
	d := &data{t: t}
	r, err := Resolve(t.Context(), Config{Rank: NoRank, Generation: 3}, d.listen)
	if err != nil || r.Rank != 0 || r.Size() != 1 || r.Generation != 3 || d.called {
		t.Errorf("%+v, %v, listened %v", r, err, d.called)
	}
}

func TestResolveExplicitAndHostfile(t *testing.T) {
	own, other := freeaddr.Loopback(t, 1)[0], "127.0.0.1:1"
	path := filepath.Join(t.TempDir(), "c.json")
	if err := os.WriteFile(path, fmt.Appendf(nil, `[[%q],[%q]]`, other, own), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []Peer{{"127.0.0.1", []string{other}, listed(0)}, {"127.0.0.1", []string{own}, listed(0)}}
	for _, cfg := range []Config{
		{Rank: 1, Size: 2, Addrs: []string{other, own}},
		{Rank: 1, Hostfile: path},
		{Rank: 1, Size: 2, Hostfile: fmt.Sprintf(`[[%q],[%q]]`, other, own)},
	} {
		t.Run(cfg.Way().String(), func(t *testing.T) {
			d := &data{t: t}
			r, err := Resolve(t.Context(), cfg, d.listen)
			if err != nil || r.Rank != 1 || !reflect.DeepEqual(r.Peers, want) || !reflect.DeepEqual(d.at, []string{own}) {
				t.Errorf("%+v, %v, listening at %v", r, err, d.at)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	two := `[["127.0.0.1:1"],["127.0.0.1:2"]]`
	tests := []struct {
		name string
		cfg  Config
		text string
	}{
		{"invalid", Config{Rank: 5}, "cannot be alone"},
		{"size of hostfile", Config{Rank: 1, Size: 3, Hostfile: two}, "--world-size (THUNDER_WORLD_SIZE): 3 ranks, but the hostfile lists 2"},
		{"rank of hostfile", Config{Rank: 2, Hostfile: two}, "--rank (THUNDER_RANK): 2 is out of range; the hostfile allows 0..1"},
		{"hostfile", Config{Rank: 0, Hostfile: "[]"}, "hostfile:1: hosts: lists no host"},
		{"no hostfile", Config{Rank: 0, Hostfile: "/nonexistent/c.json"}, "no such file"},
		{"hostfile without addresses", Config{Rank: 0, Hostfile: `[{"ssh":"a"}]`}, `host "a" has no address`},
		{"exposed", Config{Rank: 0, Addrs: []string{"0.0.0.0:7000"}}, "without a token"},
		{"exposed coordinator", Config{Rank: 0, Size: 1, Coordinator: "192.0.2.1:7000"}, "without a token"},
		{"exposed data", Config{Rank: 0, Size: 1, Coordinator: freeaddr.Loopback(t, 1)[0], Addrs: []string{":0"}}, "listening on :0 without a token"},
		{"not our address", Config{Rank: 0, Size: 1, Coordinator: "192.0.2.1:7000", Insecure: true}, "it must be an address of rank 0's own machine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &data{t: t}
			_, err := Resolve(t.Context(), tt.cfg, d.listen)
			if err == nil || !strings.Contains(err.Error(), tt.text) || d.called {
				t.Errorf("%v, listened %v", err, d.called)
			}
		})
	}
}

func TestPortInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	taken := ln.Addr().String()
	for name, cfg := range map[string]Config{
		"coordinator": {Rank: 0, Size: 2, Coordinator: taken},
		"data":        {Rank: 0, Addrs: []string{taken}},
	} {
		_, err := Resolve(t.Context(), cfg, (&data{t: t}).listen)
		if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), taken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// meet resolves all ranks of a job over real sockets.
func meet(t *testing.T, size int, change func(*Config)) ([]*Roster, []error) {
	t.Helper()
	rosters, errs := make([]*Roster, size), make([]error, size)
	var wg sync.WaitGroup
	for rank := range size {
		wg.Go(func() {
			cfg := Config{Rank: rank, Size: size, Token: []byte("k"), StartTimeout: 30 * time.Second}
			change(&cfg)
			rosters[rank], errs[rank] = Resolve(t.Context(), cfg, (&data{t: t}).listen)
		})
	}
	wg.Wait()
	return rosters, errs
}

func wantSameRosters(t *testing.T, rosters []*Roster, errs []error) {
	t.Helper()
	for rank, r := range rosters {
		switch {
		case errs[rank] != nil:
			t.Errorf("rank %d: %v", rank, errs[rank])
		case r.Rank != rank || r.Size() != len(rosters) || !reflect.DeepEqual(r.Peers, rosters[0].Peers):
			t.Errorf("rank %d: %+v", rank, r)
		}
	}
}

func TestResolveCoordinated(t *testing.T) {
	for _, ip := range []string{"127.0.0.1", "::1"} {
		for _, size := range []int{1, 3, 64} {
			t.Run(fmt.Sprint(ip, "/", size), func(t *testing.T) {
				before := goleak.IgnoreCurrent()
				addr := freeaddr.On(t, ip)[0]
				rosters, errs := meet(t, size, func(c *Config) { c.Coordinator = addr })
				wantSameRosters(t, rosters, errs)
				if t.Failed() {
					return
				}
				for rank, p := range rosters[0].Peers {
					conn, err := net.Dial("tcp", p.Addrs[0])
					if err != nil || len(p.Addrs) != 1 || !strings.HasPrefix(p.Addrs[0], strings.TrimSuffix(net.JoinHostPort(ip, ""), ":")) {
						t.Errorf("rank %d at %v: %v", rank, p.Addrs, err)
						continue
					}
					conn.Close()
				}
				noneLeft(t, before)
			})
		}
	}
}

// TestResolveServed has the coordinator served by somebody else, and each rank told
// to listen at two rails.
func TestResolveServed(t *testing.T) {
	before := goleak.IgnoreCurrent()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	srv := make(chan error, 1)
	go func() { srv <- Serve(t.Context(), ln, ServerConfig{Size: 2, Token: []byte("k")}) }()
	rosters, errs := meet(t, 2, func(c *Config) {
		c.Coordinator, c.Served, c.Addrs = addr, true, []string{"127.0.0.1:0,:0"}
	})
	wantSameRosters(t, rosters, errs)
	if err := <-srv; err != nil {
		t.Error(err)
	}
	if t.Failed() {
		return
	}
	for rank, p := range rosters[0].Peers {
		if len(p.Addrs) != 2 || !strings.HasPrefix(p.Addrs[1], "127.0.0.1:") {
			t.Errorf("rank %d at %v: the unspecified address was not replaced", rank, p.Addrs)
		}
	}
	noneLeft(t, before)
}

// TestListenFails checks that rank 0, if it cannot listen, ends both its coordinator and
// its join.
func TestListenFails(t *testing.T) {
	before := goleak.IgnoreCurrent()
	no := errors.New("no listener today")
	cfg := Config{Rank: 0, Size: 2, Coordinator: freeaddr.Loopback(t, 1)[0], Token: []byte("k")}
	_, err := Resolve(t.Context(), cfg, func([]string) ([]string, error) { return nil, no })
	if !errors.Is(err, no) || !strings.Contains(err.Error(), "rank 0 cannot listen") {
		t.Errorf("rank 0: %v", err)
	}
	noneLeft(t, before)
}

func TestUnreachable(t *testing.T) {
	_, err := Resolve(t.Context(), Config{
		Rank: 1, Size: 2, Coordinator: freeaddr.Loopback(t, 1)[0], StartTimeout: time.Second,
	}, (&data{t: t}).listen)
	if _, ok := errors.AsType[*UnreachableError](err); !ok || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
}

func TestResolveWrongToken(t *testing.T) {
	before := goleak.IgnoreCurrent()
	addr := freeaddr.Loopback(t, 1)[0]
	ctx, cancel := context.WithCancel(t.Context())
	serving := make(chan error, 1)
	go func() {
		_, err := Resolve(ctx, Config{Rank: 0, Size: 2, Coordinator: addr, Token: []byte("k")}, (&data{t: t}).listen)
		serving <- err
	}()
	d := &data{t: t}
	_, err := Resolve(t.Context(), Config{Rank: 1, Size: 2, Coordinator: addr, Token: []byte("other")}, d.listen)
	if auth, ok := errors.AsType[*handshake.AuthError](err); !ok || auth.Addr != addr || d.called {
		t.Errorf("rank 1: %v, listened %v", err, d.called)
	}
	cancel()
	if err := <-serving; !errors.Is(err, context.Canceled) {
		t.Errorf("rank 0: %v", err)
	}
	noneLeft(t, before)
}

func TestResolveCancelled(t *testing.T) {
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	addr := freeaddr.Loopback(t, 1)[0]
	d := &data{t: t}
	_, err := Resolve(ctx, Config{Rank: 0, Size: 2, Coordinator: addr}, func(at []string) ([]string, error) {
		cancel(why)
		return d.listen(at)
	})
	if !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	noneLeft(t, before)
}
