package rails

import (
	"context"
	"errors"
	"fmt"
	"net"

	"thundercollective/fabric"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/rendezvous/handshake"
)

// OverTCP returns a fabric on a TCP listener: links over rails to the peers for which
// tc.Paths lists several paths, plain TCP links to the others. It takes over ln, which
// it closes if it fails. OverTCP sets Base and Rails of cfg; extra, if not nil, returns
// additional rails to a peer, which are listed after those of TCP.
func OverTCP(ln *tcp.Listener, tc tcp.Config, cfg Config, extra func(peer int) []Rail) (*Fabric, error) {
	var f *Fabric
	ready := make(chan struct{}) // closed when f is set
	tc.OnRail = func(c *net.TCPConn, h handshake.Hello) {
		<-ready
		if f == nil {
			c.Close()
			return
		}
		err := f.Accept(c, int(h.From), fabric.Channel(h.Channel), int(h.Stream))
		if _, pair := errors.AsType[*PairError](err); pair && tc.OnDiffer != nil {
			tc.OnDiffer(int(h.From), fmt.Errorf("rails: rank %d on %s: %w", h.From, f.host(int(h.From)), err))
		}
	}
	if combines(tc.Paths, tc.Rank, extra != nil) {
		tc.Background = func() bool { return true }
	}
	base, err := tcp.New(ln, tc)
	if err != nil {
		return nil, err
	}
	defer close(ready)
	cfg.Base = base
	cfg.Rails = make([][]Rail, len(tc.Paths))
	for peer, paths := range tc.Paths {
		if len(paths) > 0 && paths[0].Relay {
			continue // the base relays through other ranks
		}
		for i := range paths {
			cfg.Rails[peer] = append(cfg.Rails[peer], tcpRail(base, peer, tc.Peers[tc.Rank], &paths[i]))
		}
		if extra != nil {
			cfg.Rails[peer] = append(cfg.Rails[peer], extra(peer)...)
		}
	}
	f, err = New(cfg)
	return f, err
}

// combines reports whether some peers may have several rails and others one, so that a
// rank waits on links of either kind.
func combines(paths [][]tcp.Path, rank int, extra bool) bool {
	var several, one bool
	for peer, p := range paths {
		switch {
		case peer == rank:
		case len(p) < 2 || p[0].Relay:
			one = true
		default:
			several = true
		}
	}
	return one && (several || extra)
}

// tcpRail returns the rail over a path. If it may start anywhere, Near is the first of
// this rank's own addresses.
func tcpRail(base *tcp.Fabric, peer int, own []string, path *tcp.Path) Rail {
	near, anywhere := path.Local.String(), !path.Local.IsValid()
	if anywhere && len(own) > 0 {
		near = hostOf(own[0])
	}
	return Rail{
		Near: withoutZone(near), Far: withoutZone(hostOf(path.Remote)), Device: path.Device, Anywhere: anywhere,
		Final: tcp.Final,
		Open: func(ctx context.Context, ch fabric.Channel, stream, streams int) (Conn, error) {
			c, err := base.DialRail(ctx, peer, path, ch, stream, streams)
			if err != nil {
				return nil, err
			}
			return c, nil
		},
	}
}

// hostOf returns the host of host:port.
func hostOf(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return addr
}

// withoutZone removes the interface name from an address: each end has its own.
func withoutZone(addr string) string {
	for i := range addr {
		if addr[i] == '%' {
			return addr[:i]
		}
	}
	return addr
}
