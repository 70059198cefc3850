package rendezvous

import (
	"net"
	"net/netip"
)

// localIP is this end's address, or the zero Addr if conn has none.
func localIP(conn net.Conn) netip.Addr {
	ap, _ := netip.ParseAddrPort(conn.LocalAddr().String())
	return ap.Addr().Unmap()
}

// rezone replaces the zones of link-local addresses. A zone is the name that one
// machine has for its interface: another machine reaches the same address through
// an interface of its own, most likely the one through which it reached the
// coordinator, if that too is link-local.
func rezone(peers []Peer, zone string) {
	if zone == "" {
		return
	}
	for _, peer := range peers {
		for i, addr := range peer.Addrs {
			if e, err := parseEndpoint(addr); err == nil && e.ip.Zone() != "" {
				e.ip = e.ip.WithZone(zone)
				peer.Addrs[i] = e.String()
			}
		}
	}
}
