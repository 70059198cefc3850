package rendezvous

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// An AddrError reports what is wrong with the address of a rank.
type AddrError struct {
	Rank   int
	Addr   string
	Reason string // a phrase about Addr
}

func (e *AddrError) Error() string {
	return fmt.Sprintf("address of rank %d: %q %s", e.Rank, e.Addr, e.Reason)
}

// noPort is the port of an endpoint that was written without one.
const noPort = -1

// An endpoint is a parsed address: an IP address or a name, and a port.
type endpoint struct {
	ip   netip.Addr // the zero Addr if the host is a name, or empty
	name string
	port int // noPort, or 0..65535
}

// parseEndpoint parses "host:port" or "host". Its errors are phrases that follow the
// quoted address.
func parseEndpoint(s string) (endpoint, error) {
	if s == "" {
		return endpoint{}, errors.New("is empty")
	}
	host, port := s, noPort
	if ip, err := netip.ParseAddr(unbracket(s)); err == nil {
		return checkedIP(ip, noPort)
	}
	if strings.Contains(s, ":") {
		var text string
		var err error
		host, text, err = net.SplitHostPort(s)
		switch {
		case err != nil && strings.Count(s, ":") > 1 && !strings.Contains(s, "["):
			return endpoint{}, errors.New("is not an address; write IPv6 with a port as [address]:port")
		case err != nil:
			return endpoint{}, errors.New("is not an address; write host:port")
		}
		port, err = strconv.Atoi(text)
		if err != nil || port < 0 || port > 65535 {
			return endpoint{}, fmt.Errorf("has the port %q; a port is 1..65535", text)
		}
	}
	if host == "" {
		return endpoint{port: port}, nil
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return checkedIP(ip, port)
	}
	if !validName(host) {
		return endpoint{}, errors.New("is neither an IP address nor a host name")
	}
	return endpoint{name: strings.ToLower(host), port: port}, nil
}

func unbracket(s string) string {
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		return s[1 : len(s)-1]
	}
	return s
}

func checkedIP(ip netip.Addr, port int) (endpoint, error) {
	ip = ip.Unmap()
	// netip takes any text as a zone, even "en5]:7000".
	if zone := ip.Zone(); zone != "" && !validName(zone) && strings.Trim(zone, "0123456789") != "" {
		return endpoint{}, fmt.Errorf("has the zone %q, which is not the name of an interface", zone)
	}
	if ip.Is6() && ip.IsLinkLocalUnicast() && ip.Zone() == "" {
		return endpoint{}, fmt.Errorf("is link-local and needs its interface, as in [%s%%en5]:7000", ip)
	}
	return endpoint{ip: ip, port: port}, nil
}

// validName reports whether s can be a host name. A name of digits and dots only is
// taken for a malformed IPv4 address.
func validName(s string) bool {
	if len(s) > 253 || strings.Trim(s, "0123456789.") == "" {
		return false
	}
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
		default:
			return false
		}
	}
	return true
}

// unspecified reports whether e means every address of a machine.
func (e endpoint) unspecified() bool {
	return e.ip.IsUnspecified() || (e.name == "" && !e.ip.IsValid())
}

func (e endpoint) loopback() bool {
	return e.ip.IsLoopback() || e.name == "localhost" || strings.HasSuffix(e.name, ".localhost")
}

func (e endpoint) host() string {
	if e.ip.IsValid() {
		return e.ip.String()
	}
	return e.name
}

// String is the canonical form: equal strings are equal addresses.
func (e endpoint) String() string {
	if e.port == noPort {
		return e.host()
	}
	return net.JoinHostPort(e.host(), strconv.Itoa(e.port))
}

// dialable parses an address to connect to.
func dialable(s string) (endpoint, error) {
	e, err := parseEndpoint(s)
	if err == nil {
		err = e.reachable()
	}
	return e, err
}

// reachable returns an error if nobody can connect to e.
func (e endpoint) reachable() error {
	switch {
	case e.port == noPort:
		return errors.New("has no port; write host:port")
	case e.port == 0:
		return errors.New("has port 0, which nobody can connect to")
	case e.unspecified():
		return errors.New("is not an address that others can connect to; give one of the machine's own addresses")
	}
	return nil
}

// splitRails splits the comma-separated addresses of one rank.
func splitRails(entry string) []string {
	rails := strings.Split(entry, ",")
	for i := range rails {
		rails[i] = strings.TrimSpace(rails[i])
	}
	return rails
}

// explicitPeers parses one entry per rank, each with the address of one or more rails.
// The entry of this rank, self, may be an unspecified address: it is only listened on.
func explicitPeers(self int, entries []string) ([]Peer, error) {
	peers := make([]Peer, len(entries))
	owner := make(map[string]int)
	for rank, entry := range entries {
		rails := splitRails(entry)
		if len(rails) > MaxRails {
			return nil, &AddrError{Rank: rank, Addr: rails[MaxRails], Reason: fmt.Sprintf("is one too many; a rank has at most %d", MaxRails)}
		}
		for _, addr := range rails {
			e, err := parseEndpoint(addr)
			if own := rank == self && e.unspecified() && e.port > 0; err == nil && !own {
				err = e.reachable()
			}
			if err != nil {
				return nil, &AddrError{Rank: rank, Addr: addr, Reason: err.Error()}
			}
			if other, taken := owner[e.String()]; taken {
				return nil, &AddrError{Rank: rank, Addr: addr, Reason: fmt.Sprintf("is already an address of rank %d", other)}
			}
			owner[e.String()] = rank
			peers[rank].Addrs = append(peers[rank].Addrs, e.String())
			if peers[rank].Host == "" {
				peers[rank].Host = e.host()
			}
		}
	}
	keys := make([][]string, len(peers))
	for rank := range peers {
		keys[rank] = addressKeys(peers[rank].Addrs)
	}
	listedMachines(peers, keys)
	return peers, nil
}
