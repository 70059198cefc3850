package rendezvous

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"thundercollective/internal/env"
)

// TestPortsWithin: listeners that may have any port get one of the range, the next one if
// it is taken, and those that ask for a certain one keep it.
func TestPortsWithin(t *testing.T) {
	taken := map[string]bool{"10.0.0.1:7000": true, "10.1.0.1:7001": true}
	listen := func(at []string) ([]string, error) {
		for _, addr := range at {
			if taken[addr] {
				return nil, fmt.Errorf("listen on %s: %w", addr, syscall.EADDRINUSE)
			}
		}
		return at, nil
	}
	for _, tt := range []struct {
		ports    env.PortRange
		at, want string
	}{
		{env.PortRange{}, "10.0.0.1:0", "10.0.0.1:0"},
		{env.PortRange{First: 7000, Last: 7002}, "10.0.0.1:0", "10.0.0.1:7001"},
		{env.PortRange{First: 7000, Last: 7002}, "10.0.0.1:0 10.1.0.1:0", "10.0.0.1:7002 10.1.0.1:7002"},
		{env.PortRange{First: 7000, Last: 7002}, "[fe80::1%en5]:0", "[fe80::1%en5]:7000"},
		{env.PortRange{First: 7000, Last: 7002}, "10.0.0.1:9000", "10.0.0.1:9000"},
		{env.PortRange{First: 7000, Last: 7000}, "10.0.0.1:0", "all ports of THUNDER_PORTS=7000-7000 are in use"},
	} {
		got, err := within(tt.ports, listen)(strings.Fields(tt.at))
		if err != nil {
			got = []string{err.Error()}
		}
		if text := strings.Join(got, " "); !strings.HasPrefix(text, tt.want) {
			t.Errorf("%v in %v: %s, want %s", tt.at, tt.ports, text, tt.want)
		}
	}
}

// TestUnknownCoordinator: a rank that waits learns at the first attempt that the name of the
// coordinator does not resolve.
func TestUnknownCoordinator(t *testing.T) {
	bubble(t, 2, func(t *testing.T, j *job) {
		var said []error
		_, err := Join(t.Context(), JoinConfig{
			Coordinator: "nowhere:1", Rank: 1, Size: 2, Addrs: []string{"10.0.0.1:1"}, OnRetry: func(err error) { said = append(said, err) },
			dial: failing(&net.DNSError{Err: "no such host", Name: "nowhere", IsNotFound: true}),
		})
		if len(said) < 2 || !strings.Contains(said[0].Error(), "lookup nowhere: no such host") || err == nil || !strings.Contains(err.Error(), "no such host") {
			t.Errorf("said %v, then %v", said, err)
		}
	})
}
