package thunder

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"thundercollective/internal/group"
	"thundercollective/internal/provider/rails"
	"thundercollective/internal/session"
)

// A Comm is a group of ranks that communicate: all of them (Init, Local), or some
// (Split). It is safe for concurrent use. Collective operations run one after the
// other in the order of the calls, which must be the same on all ranks; sends to a
// peer, and receives from one, each keep their own order beside them. Operations
// of different Comms do not wait for each other.
//
// The first error of an operation ends the group, here and at the other ranks: every
// later call returns the same error. That includes the end of an operation's context,
// since the other ranks would wait for this one.
type Comm struct {
	job    *job
	group  *group.Group
	splits atomic.Uint32 // Split calls so far
}

// Rank returns this process's place in the group, from 0.
func (c *Comm) Rank() int { return c.group.Rank() }

// Size returns the number of ranks in the group.
func (c *Comm) Size() int { return c.group.Size() }

// Generation returns how many times the job was begun anew, from 0.
func (c *Comm) Generation() int { return int(c.job.generation) }

// Host returns the name of the machine of a rank of the group, as far as it is known.
func (c *Comm) Host(rank int) string { return c.job.hosts[c.group.Ranks()[rank]] }

// Fabric returns the name of what carries the messages: "tcp", "shm", "mem", or "none"
// for a rank that is alone.
func (c *Comm) Fabric() string { return c.job.fabricName() }

// Streams returns how many TCP connections carry messages to each peer, where TCP does;
// 1 elsewhere.
func (c *Comm) Streams() int {
	if c.job.wiring == nil {
		return 1
	}
	return max(1, c.job.wiring.Streams)
}

// Err returns why the group has ended; nil while it works.
func (c *Comm) Err() error { return c.group.Err() }

// Do performs one operation and returns when it is done.
func (c *Comm) Do(ctx context.Context, r *Request) error {
	return c.group.Do(ctx, (*group.Request)(r))
}

// Start starts an operation and returns at once. The buffers must be left alone until
// it is done.
func (c *Comm) Start(ctx context.Context, r *Request) *Work {
	w := &Work{done: make(chan struct{})}
	c.group.Start(ctx, (*group.Request)(r), w.finish)
	return w
}

// Abort ends the group at all ranks: pending and later calls return an
// *AbortError with the reason.
func (c *Comm) Abort(reason string) {
	c.group.FailAll(&AbortError{Rank: c.job.rank, Reason: reason})
}

// Close leaves the group. Closing the Comm of Init or Local closes all groups made
// from it and tells the peers that this rank has left in good order.
func (c *Comm) Close() error {
	if c.group.ID() == session.WorldID {
		return c.job.close()
	}
	c.group.Drain()
	c.job.session.Forget(c.group)
	c.job.telemetry.Remove(c.group)
	c.group.Release()
	return nil
}

// Alloc returns n bytes, zeroed, outside the Go heap and page-aligned. Where the fabric
// has memory of its own it is that, which moves without a copy at this end; elsewhere it
// is in huge pages if the system has them, which sockets copy faster. Operations take
// any other memory too. Free it before the job is closed.
func (c *Comm) Alloc(n int) ([]byte, error) {
	if n <= 0 {
		return nil, fmt.Errorf("thunder: alloc of %d bytes", n)
	}
	return c.job.memory().Alloc(n)
}

// Free gives back memory of Alloc, which must be passed as it was returned and not
// be in use by any operation.
func (c *Comm) Free(b []byte) error { return c.job.memory().Free(b) }

// Dump writes what this rank's flight recorder holds, of all groups, as JSON that
// thunder inspect reads.
func (c *Comm) Dump(w io.Writer) error { return c.job.telemetry.Write(w) }

// Traffic counts what this process has sent and received for all groups.
func (c *Comm) Traffic() Traffic {
	if c.job.fabric == nil {
		return Traffic{}
	}
	return c.job.fabric.Traffic()
}

// TrafficTo counts what this process has sent to and received from a rank of the group,
// in this group.
func (c *Comm) TrafficTo(rank int) Traffic {
	sums := make([]Traffic, len(c.job.hosts))
	c.group.AddTraffic(sums)
	return sums[c.group.Ranks()[rank]]
}

// A Rail describes one of several ways to a peer, and what went over it.
type Rail = rails.State

// Rails reports on the rails of this process, to the peers that have more than one.
func (c *Comm) Rails() []Rail { return c.job.wiring.Rails() }

// RailsTo reports on the rails to a rank of the group; nil where there is only one
// way to it.
func (c *Comm) RailsTo(rank int) []Rail {
	var list []Rail
	for _, r := range c.Rails() {
		if r.Peer == c.group.Ranks()[rank] {
			list = append(list, r)
		}
	}
	return list
}

// OnlyRail has what this process sends to a rank of the group, in all groups, go
// over one rail alone, by its place in RailsTo; a negative rail lifts that. It is
// for measuring single cables. While the rail is lost, the others are used after
// all.
func (c *Comm) OnlyRail(rank, rail int) error {
	if err := c.job.wiring.OnlyRail(c.group.Ranks()[rank], rail); err != nil {
		return fmt.Errorf("thunder: %w", err)
	}
	return nil
}
