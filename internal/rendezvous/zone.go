package rendezvous

import (
	"net"
	"net/netip"
)

// localIP returns the local address of conn, or the zero Addr if it has none.
func localIP(conn net.Conn) netip.Addr {
	ap, _ := netip.ParseAddrPort(conn.LocalAddr().String())
	return ap.Addr().Unmap()
}

// rezone replaces the zones of link-local addresses. A zone is one machine's name for
// its interface. Another machine reaches the address through an interface of its own:
// most likely the one to the coordinator, if that address is link-local too.
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
