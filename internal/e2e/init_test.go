package e2e_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/freeaddr"
	"thundercollective/internal/leaks"
	"thundercollective/internal/rendezvous"
)

func TestAlone(t *testing.T) {
	leaks.Check(t)
	c, err := thunder.Init(t.Context(), thunder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Rank() != 0 || c.Size() != 1 {
		t.Errorf("rank %d of %d", c.Rank(), c.Size())
	}
	if err := everyOperation(t.Context(), c, 10); err != nil {
		t.Error(err)
	}
	g, err := c.Split(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := everyOperation(t.Context(), g, 10); err != nil {
		t.Error(err)
	}
}

// meet runs Init with the options of every rank, and then one operation.
func meet(t *testing.T, options ...thunder.Options) {
	t.Helper()
	each(t, len(options), func(r int) error {
		c, err := thunder.Init(t.Context(), options[r])
		if err != nil {
			return err
		}
		defer c.Close()
		return everyOperation(t.Context(), c, 3)
	})
}

func TestExplicitAddresses(t *testing.T) {
	leaks.Check(t)
	addrs := freeaddr.Loopback(t, 3)
	meet(t, thunder.Options{Join: thunder.Join{Rank: 0, Size: 3, Addrs: addrs}}, thunder.Options{Join: thunder.Join{Rank: 1, Size: 3, Addrs: addrs}}, thunder.Options{Join: thunder.Join{Rank: 2, Size: 3, Addrs: addrs}})
}

func TestCoordinatorServedByRank0(t *testing.T) {
	leaks.Check(t)
	at := freeaddr.Loopback(t, 1)[0]
	meet(t, thunder.Options{Join: thunder.Join{Rank: 0, Size: 2, Coordinator: at}}, thunder.Options{Join: thunder.Join{Rank: 1, Size: 2, Coordinator: at}})
}

func TestHostfiles(t *testing.T) {
	for name, form := range map[string]string{
		"mlx":  `[["ADDR0"], ["ADDR1"]]`,
		"ours": `{"hosts": [{"name": "a", "addrs": ["ADDR0"]}, {"name": "b", "addrs": ["ADDR1"]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			addrs := freeaddr.Loopback(t, 2)
			path := filepath.Join(t.TempDir(), "hosts.json")
			text := strings.NewReplacer("ADDR0", addrs[0], "ADDR1", addrs[1]).Replace(form)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			meet(t, thunder.Options{Join: thunder.Join{Rank: 0, Size: 2, Hostfile: path}}, thunder.Options{Join: thunder.Join{Rank: 1, Size: 2, Hostfile: path}})
		})
	}
}

// initErrors runs Init with the options of every rank and returns the errors.
func initErrors(t *testing.T, options ...thunder.Options) []error {
	t.Helper()
	errs := make([]error, len(options))
	each(t, len(options), func(r int) error {
		c, err := thunder.Init(t.Context(), options[r])
		if err == nil {
			c.Close()
		}
		errs[r] = err
		return nil
	})
	return errs
}

func TestInitWrongToken(t *testing.T) {
	leaks.Check(t)
	addrs := freeaddr.Loopback(t, 2)
	o := func(rank int, token string) thunder.Options {
		return thunder.Options{Join: thunder.Join{Rank: rank, Size: 2, Addrs: addrs, StartTimeout: time.Second}, Security: thunder.Security{Token: []byte(token)}}
	}
	errs := initErrors(t, o(0, "right"), o(1, "wrong"))
	var auth *thunder.AuthError
	if !errors.As(errs[1], &auth) {
		t.Errorf("rank 1: got %v, want an AuthError", errs[1])
	}
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "token") {
		t.Errorf("rank 0: got %v, want the refused connection mentioned", errs[0])
	}
}

func TestInitDuplicateRank(t *testing.T) {
	leaks.Check(t)
	at := freeaddr.Loopback(t, 1)[0]
	o := func(rank int) thunder.Options {
		return thunder.Options{Join: thunder.Join{Rank: rank, Size: 3, Coordinator: at, StartTimeout: time.Second}}
	}
	errs := initErrors(t, o(0), o(1), o(1))
	said := errs[1].Error() + errs[2].Error()
	if !strings.Contains(said, "rank 1") || !strings.Contains(errs[0].Error(), "2") {
		t.Errorf("got %v", errs)
	}
}

func TestInitPortInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	addrs := []string{ln.Addr().String(), "127.0.0.1:1"}
	_, err = thunder.Init(t.Context(), thunder.Options{Join: thunder.Join{Rank: 0, Size: 2, Addrs: addrs}})
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("got %v, want the port in use", err)
	}
}

func TestInitUnreachable(t *testing.T) {
	leaks.Check(t)
	addrs := freeaddr.Loopback(t, 2)
	_, err := thunder.Init(t.Context(), thunder.Options{Join: thunder.Join{Rank: 1, Size: 2, Addrs: addrs, StartTimeout: 200 * time.Millisecond}})
	if err == nil || !strings.Contains(err.Error(), "rank 0 at "+addrs[0]) || !strings.Contains(err.Error(), "--start-timeout") {
		t.Errorf("got %v, want the rank, its address, and what to do", err)
	}
}

// TestInitWaits: a rank that waits for others says so long before it gives up.
func TestInitWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said := make(chan string, 10)
	log := logTo(func(line string) {
		if strings.Contains(line, "level=WARN") {
			said <- line
			cancel()
		}
	})
	_, err := thunder.Init(ctx, thunder.Options{Join: thunder.Join{Rank: 1, Size: 2, Addrs: freeaddr.Loopback(t, 2), StartTimeout: 6 * time.Second}, Diagnostics: thunder.Diagnostics{Logger: log}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want that it waits until it is told to stop", err)
	}
	if line := <-said; !strings.Contains(line, "still waiting for the other ranks") || !strings.Contains(line, "rank=1 of=2 at_most=6s") {
		t.Errorf("it said %q", line)
	}
}

func TestInitExposed(t *testing.T) {
	_, err := thunder.Init(t.Context(), thunder.Options{Join: thunder.Join{Rank: 0, Size: 2, Addrs: []string{"0.0.0.0:7099", "192.0.2.1:7099"}}})
	var exposed *rendezvous.ExposureError
	if !errors.As(err, &exposed) {
		t.Errorf("got %v, want an ExposureError", err)
	}
}

func TestInitBadOptions(t *testing.T) {
	for name, o := range map[string]thunder.Options{
		"fabric":  {Join: thunder.Join{Rank: 0, Size: 2, Addrs: freeaddr.Loopback(t, 2)}, Transport: thunder.Transport{Fabric: "carrier pigeon"}},
		"rank":    {Join: thunder.Join{Rank: 5, Size: 2, Addrs: freeaddr.Loopback(t, 2)}},
		"streams": {Join: thunder.Join{Rank: 0, Size: 2, Addrs: freeaddr.Loopback(t, 2)}, Transport: thunder.Transport{Streams: 1000}},
		"timeout": {Timeout: -1},
	} {
		c, err := thunder.Init(t.Context(), o)
		if err == nil {
			t.Errorf("%s: no error", name)
			c.Close()
		}
		// What is known without the others, Validate says too.
		_, option := errors.AsType[*thunder.OptionError](err)
		if again := o.Validate(); option != (name != "rank") || option && (again == nil || again.Error() != err.Error()) {
			t.Errorf("%s: Init says %v, Validate %v", name, err, again)
		}
	}
	if err := (thunder.Options{Tuning: thunder.Tuning{Profile: "/nonexistent"}, Transport: thunder.Transport{Fabric: "tcp", Streams: 4}}).Validate(); err == nil || !strings.Contains(err.Error(), "thunder tune") {
		t.Errorf("got %v, want it said how to write a profile", err)
	}
	if err := (thunder.Options{}).Validate(); err != nil {
		t.Errorf("got %v for nothing", err)
	}
	t.Setenv("THUNDER_TIMEOUT", "soon")
	if _, err := thunder.Init(t.Context(), thunder.Options{}); err == nil || !strings.Contains(err.Error(), "THUNDER_TIMEOUT") {
		t.Errorf("got %v, want the variable named", err)
	}
}
