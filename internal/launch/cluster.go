package launch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/netip"
	"slices"
	"sync"
	"time"

	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/output"
	"thundercollective/internal/launch/remote"
	"thundercollective/internal/launch/wire"
)

// endLimit is how long an agent may take to exit after its stdin was closed. It has nothing
// left to do then, unless it lost a job that it has to end.
const endLimit = 6 * time.Second

// A cluster is the machines of a job and their agents.
type cluster struct {
	cfg     *Config
	place   hosts.Placement
	printer *output.Printer
	feed    *feed
	agents  []*remote.Agent // by machine; nil if there is none
	events  chan event
	quit    chan struct{} // closed when nobody receives events any longer
	readers sync.WaitGroup
	senders sync.WaitGroup // sends in progress that nobody waits for

	restarts int // so far
}

// left returns the number of restarts that are left.
func (c *cluster) left() int { return c.cfg.Restarts - c.restarts }

// An event is a frame from an agent, or the loss of the agent.
type event struct {
	machine int
	agent   *remote.Agent // a dropped agent may still send
	frame   wire.Frame
	lost    *remote.HostError
}

func newCluster(cfg *Config, place hosts.Placement, printer *output.Printer) *cluster {
	return &cluster{
		cfg: cfg, place: place, printer: printer, feed: newFeed(cfg.Stdin),
		agents: make([]*remote.Agent, len(place.Machines)), events: make(chan event), quit: make(chan struct{}),
	}
}

// connect starts the missing agents, on all machines in parallel, and checks that their
// versions match.
func (c *cluster) connect(ctx context.Context) error {
	errs := make([]error, len(c.agents))
	var all sync.WaitGroup
	for m := range c.agents {
		if c.agents[m] != nil {
			continue
		}
		all.Go(func() {
			var a *remote.Agent
			if a, errs[m] = c.cfg.Agents.Start(ctx, c.place.Machines[m]); errs[m] == nil {
				c.agents[m] = a
				c.readers.Go(func() { c.read(m, a) })
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return c.checkVersions()
}

// checkVersions returns an error that names a machine for each version if they differ.
func (c *cluster) checkVersions() error {
	for m, a := range c.agents {
		if a.Hello.Version == c.cfg.Version {
			continue
		}
		e := &VersionError{Hosts: []string{"this machine", c.place.Machines[m].Name},
			Versions: []string{c.cfg.Version, a.Hello.Version}, Paths: []string{c.cfg.Agents.Agent[0], a.Hello.Path}}
		for o, other := range c.agents {
			if other.Hello.Version != a.Hello.Version {
				e.Hosts[0], e.Versions[0], e.Paths[0] = c.place.Machines[o].Name, other.Hello.Version, other.Hello.Path
				break
			}
		}
		return e
	}
	return nil
}

// read forwards what an agent sends until the agent is gone.
func (c *cluster) read(m int, a *remote.Agent) {
	for {
		f, err := a.Next()
		e := event{machine: m, agent: a, frame: f}
		if err != nil {
			e.lost = a.Lost(err)
		} else if f.Rank >= c.place.Size() {
			continue
		}
		switch {
		case err != nil:
		case f.Kind == wire.KindStdout || f.Kind == wire.KindStderr:
			c.printer.Lines(f.Rank, f.Kind == wire.KindStderr, f.Data)
			continue
		case f.Kind == wire.KindStdinTaken:
			var t wire.Taken
			if f.Decode(&t) == nil {
				c.feed.taken(f.Rank, t.Bytes)
			}
			continue
		}
		e.frame.Data = bytes.Clone(f.Data)
		select {
		case c.events <- e:
		case <-c.quit:
		}
		if err != nil {
			return
		}
	}
}

// drop removes an agent that is gone.
func (c *cluster) drop(m int) {
	c.agents[m].Close(0)
	c.agents[m] = nil
}

// broadcast sends a frame without a message to every agent. It does not wait: an agent that
// no longer receives must not delay the others. It will be reported as lost.
func (c *cluster) broadcast(kind wire.Kind) {
	for _, a := range c.agents {
		if a != nil {
			c.senders.Go(func() { a.Send(kind, 0, nil) })
		}
	}
}

// close ends all agents, and everything they still run.
func (c *cluster) close(now <-chan struct{}) {
	close(c.quit)
	var all sync.WaitGroup
	for _, a := range c.agents {
		if a == nil {
			continue
		}
		all.Go(func() {
			limit := endLimit
			select {
			case <-now:
				limit /= 6
			default:
			}
			a.Close(limit)
		})
	}
	all.Wait()
	c.feed.close()
	c.readers.Wait()
	c.senders.Wait()
}

// send streams the files to copy to one agent.
func (c *cluster) send(a *remote.Agent) error {
	w := copyWriter{a}
	if err := pack(w, c.cfg.Copy); err != nil {
		return err
	}
	return a.Send(wire.KindCopyEnd, 0, nil)
}

// A copyWriter sends a tar stream in frames.
type copyWriter struct{ a *remote.Agent }

var _ io.Writer = copyWriter{}

func (w copyWriter) Write(p []byte) (int, error) {
	if err := w.a.SendData(wire.KindCopy, 0, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// addresses returns the address at which the others reach each machine. If not all machines
// are connected by cables, the addresses of cables are not used.
func (c *Config) addresses(place hosts.Placement, hellos []wire.Hello) []string {
	list := c.Hosts
	if c.Edges != "" {
		list = slices.Clone(list)
		for i := range list {
			list[i].Addrs = nil
		}
	}
	return addresses(list, place, hellos)
}

// addresses selects the address at which the others reach each machine: the one in the
// hostfile; else the address at which ssh reached it; and for this machine, the address
// that the others see as the source of the connection.
func addresses(list []hosts.Host, place hosts.Placement, hellos []wire.Hello) []string {
	addrs := make([]string, len(place.Machines))
	if len(addrs) == 1 {
		addrs[0] = "127.0.0.1"
	}
	seen := "" // this machine's address as the others see it
	for _, h := range hellos {
		if h.Peer != "" {
			seen = h.Peer
			break
		}
	}
	beyond := false // whether some machine is not reached over loopback
	for m := range addrs {
		if rails := list[place.Ranks[place.Machines[m].Ranks[0]].Host].Addrs; len(rails) > 0 {
			addrs[m] = rails[0]
		}
		if addrs[m] == "" && place.Machines[m].Local {
			addrs[m] = seen
		} else if addrs[m] == "" {
			addrs[m] = hellos[m].Self
		}
		beyond = beyond || !loopback(addrs[m])
	}
	for m := range addrs {
		if addrs[m] != "" && !(beyond && loopback(addrs[m])) {
			continue
		}
		// Reached through a tunnel, or by a transport that does not report addresses.
		if addrs[m] = place.Machines[m].Name; len(hellos[m].Addrs) > 0 {
			addrs[m] = hellos[m].Addrs[0].IP
		}
	}
	return addrs
}

func loopback(addr string) bool {
	ip, err := netip.ParseAddr(addr)
	return err == nil && ip.IsLoopback()
}
