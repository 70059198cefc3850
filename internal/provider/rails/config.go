package rails

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"thundercollective/fabric"
)

// A Conn is a reliable stream of bytes in both directions. Close unblocks Read and
// Write.
type Conn = io.ReadWriteCloser

// A Rail is one of several cables or addresses that lead to a peer.
type Rail struct {
	// Near and Far are the addresses of this machine and of the peer, as both
	// machines name them. They are compared with what the peer sends.
	Near, Far string
	// Device is the interface at this end, for display.
	Device string
	// Anywhere allows connections to start from addresses other than Near: the
	// system chooses.
	Anywhere bool
	// Open makes one attempt to open a stream. The higher rank calls it and the
	// lower one accepts; if BothOpen is set, both call it and neither accepts.
	Open     func(ctx context.Context, ch fabric.Channel, stream, streams int) (Conn, error)
	BothOpen bool
	// Streams is the number of streams on the rail; Config.Streams if 0.
	Streams int
	// Final reports whether an error of Open is permanent, so that trying again
	// is pointless.
	Final func(error) bool
}

func (r *Rail) String() string {
	if r.Device == "" {
		return r.Near + " - " + r.Far
	}
	return fmt.Sprintf("%s - %s on %s", r.Near, r.Far, r.Device)
}

// A Config describes the rails of one rank.
type Config struct {
	// Base carries the links to the peers with fewer than two rails. The fabric
	// owns it and closes it.
	Base fabric.Fabric
	// Rails holds the rails to each peer, by rank. Both ends must list them in
	// the same order.
	Rails [][]Rail
	// Hosts names the ranks' machines in messages; may be nil.
	Hosts []string
	// Streams is the number of streams on each rail; DefaultStreams if 0. A channel
	// that carries little has one.
	Streams int
	// Checksum adds a CRC to every payload. Both ends must agree on it.
	Checksum bool
	// Stall is how long a stream may leave segments unacknowledged while others
	// make progress; a second if 0.
	Stall time.Duration
	// Logger receives a line when a rail is lost or comes back; nil logs nothing.
	Logger *slog.Logger
}

// DefaultStreams is the default number of streams on each rail: one can be
// acknowledged while another waits for room.
const DefaultStreams = 2

// MaxStreams is the maximum number of streams of one link.
const MaxStreams = 64

// plan returns, for each stream of a link, the index of its rail to the peer.
func (c *Config) plan(peer int, ch fabric.Channel) []int {
	var plan []int
	for i, r := range c.Rails[peer] {
		n := c.Streams
		switch {
		case ch == fabric.Control || ch >= fabric.ProviderChannels:
			n = 1
		case r.Streams > 0:
			n = r.Streams
		}
		for range n {
			plan = append(plan, i)
		}
	}
	return plan
}

func (c Config) withDefaults() (Config, error) {
	if c.Base == nil {
		return c, fmt.Errorf("rails: no base fabric")
	}
	n := c.Base.Size()
	if len(c.Rails) != n {
		return c, fmt.Errorf("rails: Config.Rails has entries for %d ranks, but there are %d", len(c.Rails), n)
	}
	if c.Streams == 0 {
		c.Streams = DefaultStreams
	}
	for r := range c.Rails {
		if n := len(c.plan(r, fabric.Control+1)); c.Streams < 1 || n > MaxStreams {
			return c, fmt.Errorf("rails: %d streams over %d rails to rank %d: the limit is %d streams", n, len(c.Rails[r]), r, MaxStreams)
		}
	}
	if c.Stall == 0 {
		c.Stall = time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
