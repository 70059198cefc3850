package tcp

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
)

// A Path is one way to a peer.
type Path struct {
	// Local is the address of this machine that it starts from; the zero Addr
	// leaves the choice to the system.
	Local netip.Addr
	// Device is the interface that its packets must leave by; "" for any.
	Device string
	// Remote is what is dialled: host:port of the peer, or of a relay.
	Remote string
	// Relay is set if Remote belongs to another rank, Via, which passes on what
	// it is sent.
	Relay bool
	Via   int
}

// String describes where the path leads, from where, and through which rank.
func (p *Path) String() string {
	var b strings.Builder
	b.WriteString(p.Remote)
	if p.Local.IsValid() {
		fmt.Fprintf(&b, " from %s", p.Local)
	}
	if p.Device != "" {
		fmt.Fprintf(&b, " on %s", p.Device)
	}
	if p.Relay {
		fmt.Fprintf(&b, " through rank %d", p.Via)
	}
	return b.String()
}

// dialer returns what dials from the path's address and interface.
func (p *Path) dialer() *net.Dialer {
	d := &net.Dialer{}
	if p.Local.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(p.Local, 0))
	}
	if p.Device != "" {
		d.Control = func(_, _ string, c syscall.RawConn) (err error) {
			if e := c.Control(func(fd uintptr) { err = bindDevice(fd, p.Device, p.Local.Is6()) }); e != nil {
				return e
			}
			return err
		}
	}
	return d
}

// paths returns the ways to a peer.
func (f *Fabric) paths(peer int) []Path {
	if f.cfg.Paths != nil {
		return f.cfg.Paths[peer]
	}
	addrs := f.cfg.Peers[peer]
	paths := make([]Path, len(addrs))
	for i, addr := range addrs {
		paths[i].Remote = addr
	}
	return paths
}

func (c *Config) checkPaths() error {
	if c.Paths == nil {
		return nil
	}
	if len(c.Paths) != len(c.Peers) {
		return fmt.Errorf("tcp: paths to %d ranks, addresses of %d", len(c.Paths), len(c.Peers))
	}
	for r, paths := range c.Paths {
		if len(paths) == 0 && r != c.Rank {
			return fmt.Errorf("tcp: there is no way to rank %d", r)
		}
	}
	return nil
}
