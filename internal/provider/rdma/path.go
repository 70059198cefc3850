package rdma

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// A Path tells how this rank reaches a peer.
type Path struct {
	Peer   int
	RDMA   bool
	Reason string // why not RDMA
	// With RDMA: this rank's devices, one per rail, and the profile, "RC" or "UC".
	Devices []string
	Profile string
}

func (p Path) String() string {
	if !p.RDMA {
		return fmt.Sprintf("rank %d: not RDMA: %s", p.Peer, p.Reason)
	}
	return fmt.Sprintf("rank %d: RDMA over %s (%s)", p.Peer, strings.Join(p.Devices, ", "), p.Profile)
}

// Paths lists how the peers with a link are reached, by rank.
func (f *Fabric) Paths() []Path {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.SortedFunc(maps.Values(f.paths), func(a, b Path) int { return a.Peer - b.Peer })
}

// announce records how a peer is reached, and logs it once.
func (f *Fabric) announce(peer int, l *Link, why string, level slog.Level) {
	p := Path{Peer: peer, Reason: why}
	if l != nil {
		p.RDMA, p.Profile = true, "UC"
		if l.rc {
			p.Profile = "RC"
		}
		for _, r := range l.rails {
			p.Devices = append(p.Devices, r.dev.dev.Name())
		}
	}
	f.mu.Lock()
	old, known := f.paths[peer]
	f.paths[peer] = p
	f.mu.Unlock()
	if known && old.RDMA == p.RDMA {
		return
	}
	ctx := context.Background()
	if p.RDMA {
		f.cfg.Logger.Log(ctx, level, "rdma: using RDMA", "rank", f.Rank(), "peer", peer, "devices", p.Devices, "profile", p.Profile)
		return
	}
	f.cfg.Logger.Log(ctx, level, "rdma: not using RDMA", "rank", f.Rank(), "peer", peer, "instead", f.boot.Name(), "reason", why)
}
