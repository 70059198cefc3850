package rdma

import (
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// A Config tells which devices to use and how. The zero value is usable.
type Config struct {
	// Devices names this rank's devices for each peer, by rank: its row of the
	// hostfile. Several devices for a peer are several rails; as many are used as
	// both ends have. If Devices is nil, the pair of devices is chosen by address.
	// An empty entry means that there is no RDMA to that peer.
	Devices [][]string
	// GIDIndex is the index of the GID to use on every device; 0 chooses the
	// IPv4-mapped one. (The GID with index 0 is never usable.)
	GIDIndex int
	// Port is the port of every device; 1 if 0.
	Port int
	// Fallback lets a pair of ranks use the boot fabric if one of them has no
	// working device, and logs why. Both have to allow it.
	Fallback bool
	// Spin is how long a call polls before it parks.
	Spin time.Duration
	// Retry is how long a message on an unreliable device may stay without an
	// acknowledgement before it is sent again; 10 ms if 0. GiveUp is how long until
	// the peer is considered lost; 5 s if 0.
	Retry, GiveUp time.Duration
	// Linger is how long Close waits for what was sent to arrive; 2 s if 0.
	Linger time.Duration
	// Logger receives a line about how each peer is reached; nil logs nothing.
	Logger *slog.Logger
	// Host replaces the system's RDMA library, in tests: a host of package rdmatest.
	Host hca.Host
}

// withDefaults returns the configuration with defaults filled in, or an error if it is
// invalid.
func (c Config) withDefaults(size int) (Config, error) {
	switch {
	case c.Devices != nil && len(c.Devices) != size:
		return c, fmt.Errorf("rdma: the device row has %d entries for %d ranks", len(c.Devices), size)
	case c.GIDIndex < 0 || c.GIDIndex > 255:
		return c, fmt.Errorf("rdma: GID index %d: must be 1 to 255, or 0 for the IPv4-mapped one", c.GIDIndex)
	case c.Port < 0 || c.Port > 255:
		return c, fmt.Errorf("rdma: port %d: must be 1 to 255, or 0 for 1", c.Port)
	case c.Retry < 0 || c.GiveUp < 0 || c.Linger < 0 || c.Spin < 0:
		return c, fmt.Errorf("rdma: negative duration in the configuration")
	}
	for peer, devs := range c.Devices {
		if len(devs) > maxRails {
			return c, fmt.Errorf("rdma: %d devices for rank %d: the limit is %d", len(devs), peer, maxRails)
		}
	}
	setDefault(&c.Port, 1)
	setDefault(&c.Retry, 10*time.Millisecond)
	setDefault(&c.GiveUp, 5*time.Second)
	setDefault(&c.Linger, 2*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if runtime.GOMAXPROCS(0) == 1 {
		c.Spin = 0 // the peer may need the only processor
	}
	return c, nil
}

func setDefault[T int | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}
