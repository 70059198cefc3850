package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/netns"
)

// netnsVar says that the process has a network of its own.
const netnsVar = "THUNDER_TEST_NETNS"

// TestStreamOutlivesTCP takes the network away from under a job: the stream cable
// carries on, control channel included, and TCP is used again when it is back.
//
//	[halo0]──✂─ TCP ────[halo1]   both on the loopback of a namespace
//	   └─0-1.3══USB4══0-3.1─┘
func TestStreamOutlivesTCP(t *testing.T) {
	if os.Getenv(netnsVar) == "" {
		inNamespace(t)
		return
	}
	ip := func(args ...string) error {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %v: %w\n%s", args, err, out)
		}
		return nil
	}
	for _, args := range [][]string{{"link", "set", "lo", "up"}, {"addr", "add", "10.99.0.1/24", "dev", "lo"}, {"addr", "add", "10.99.0.2/24", "dev", "lo"}} {
		if err := ip(args...); err != nil {
			t.Fatal(err)
		}
	}
	h := newHalos([2]string{"10.99.0.1:7000", "10.99.0.2:7000"}, oneStream)
	each(t, 2, func(r int) error {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		c, err := h.init(ctx, r)
		if err != nil {
			return err
		}
		defer c.Close()
		for rail := range 2 {
			if err := reduceUntil(ctx, c, "both rails", moved(c, rail)); err != nil {
				return err
			}
		}
		if r == 0 {
			if err := ip("link", "set", "lo", "down"); err != nil {
				return err
			}
		}
		if err := reduceUntil(ctx, c, "no network", func(tcp, _ thunder.Rail) bool { return !tcp.Up }); err != nil {
			return err
		}
		if err := reduceUntil(ctx, c, "no network", moved(c, 1)); err != nil {
			return err
		}
		if r == 0 {
			if err := ip("link", "set", "lo", "up"); err != nil {
				return err
			}
		}
		return reduceUntil(ctx, c, "network again", moved(c, 0))
	})
}

// inNamespace runs the test that calls it in a network namespace of its own.
func inNamespace(t *testing.T) {
	t.Helper()
	cmd := netns.Command(t.Context(), netns.New(t, 1)[0], os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=4m")
	cmd.Env = append(os.Environ(), netnsVar+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
