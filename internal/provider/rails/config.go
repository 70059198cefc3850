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

// A Rail is one way to a peer.
type Rail struct {
	// Near and Far are its ends, as both machines name them: this machine's
	// address and the peer's. They are compared with what the peer says.
	Near, Far string
	// Device is the interface at this end, for people.
	Device string
	// Anywhere says that connections may start from other addresses than Near:
	// the system chooses.
	Anywhere bool
	// Open makes one attempt to open a stream. The higher rank calls it; with
	// Meet both do, and none is accepted.
	Open func(ctx context.Context, ch fabric.Channel, stream, streams int) (Conn, error)
	Meet bool
	// Streams is the number of streams on it; Config's if 0.
	Streams int
	// Final says of an error of Open that there is no point in another attempt.
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
	// takes it over.
	Base fabric.Fabric
	// Rails holds the rails to each peer, by rank. Both ends must list them in
	// the same order.
	Rails [][]Rail
	// Hosts names the ranks' machines, for messages; may be nil.
	Hosts []string
	// Streams is the number of streams on each rail; DefaultStreams if 0. A channel
	// that carries little has one.
	Streams int
	// Checksum has every payload carry a CRC, at both ends or not at all.
	Checksum bool
	// Stall is how long a stream may leave segments unacknowledged while others
	// get on; a second if 0.
	Stall time.Duration
	// Logger is told of rails that are lost and found; nothing is logged if nil.
	Logger *slog.Logger
}

// DefaultStreams is the number of streams on each rail when Config does not say: one
// can be acknowledged while another waits for room.
const DefaultStreams = 2

// MaxStreams bounds the streams of one link.
const MaxStreams = 64

// plan returns, for each stream of a link, on which of the rails to the peer it is.
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
		return c, fmt.Errorf("rails: rails to %d ranks of %d", len(c.Rails), n)
	}
	if c.Streams == 0 {
		c.Streams = DefaultStreams
	}
	for r := range c.Rails {
		if n := len(c.plan(r, fabric.Control+1)); c.Streams < 1 || n > MaxStreams {
			return c, fmt.Errorf("rails: %d streams over %d rails to rank %d: at most %d in all", n, len(c.Rails[r]), r, MaxStreams)
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
