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

// OverTCP makes a fabric on a TCP listener: links over rails to the peers to which
// tc.Paths lists several ways, plain TCP links to the others. It takes over ln, also
// when it fails. Base and Rails of cfg are set here; extra, if not nil, returns more
// rails to a peer, which come behind those of TCP.
func OverTCP(ln *tcp.Listener, tc tcp.Config, cfg Config, extra func(peer int) []Rail) (*Fabric, error) {
	var f *Fabric
	ready := make(chan struct{}) // closed when f is there
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
	base, err := tcp.New(ln, tc)
	if err != nil {
		return nil, err
	}
	defer close(ready)
	cfg.Base = base
	cfg.Rails = make([][]Rail, len(tc.Paths))
	for peer, paths := range tc.Paths {
		if len(paths) > 0 && paths[0].Relay {
			continue // the base has links through others
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

// tcpRail is the rail that a path makes. One that may start anywhere is named after
// the first of the own addresses.
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

// hostOf is the part of host:port before the port.
func hostOf(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return addr
}

// withoutZone drops the name of the interface, which is another one at either end.
func withoutZone(addr string) string {
	for i := range addr {
		if addr[i] == '%' {
			return addr[:i]
		}
	}
	return addr
}
