package hosts

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"thundercollective/internal/rendezvous"
)

// MaxSlots limits the ranks of one machine; more is probably a typing mistake.
const MaxSlots = 4096

// A Host is a machine that runs ranks.
type Host struct {
	Name  string     // ssh name
	Label string     // name in a hostfile; empty without one
	Slots int        // number of ranks it runs
	Addrs []string   // its addresses without ports, one for each rail; may be empty
	RDMA  [][]string // devices that lead to each host of the list; empty without RDMA
}

// Local reports whether the name means this machine, which needs no ssh.
func (h Host) Local() bool {
	switch h.Name {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	own, err := os.Hostname()
	return err == nil && h.Name == own
}

// ParseList parses the value of --hosts: names separated by commas, each with ":slots" if
// it runs more than one rank. An IPv6 address with slots is in brackets. If a name is an
// address, it is also the host's address.
func ParseList(list string) ([]Host, error) {
	var hs []Host
	for entry := range strings.SplitSeq(list, ",") {
		h, err := parseEntry(strings.TrimSpace(entry))
		if err != nil {
			return nil, fmt.Errorf("host %d of %q: %w", len(hs)+1, list, err)
		}
		hs = append(hs, h)
	}
	return hs, nil
}

func parseEntry(s string) (Host, error) {
	h := Host{Name: s, Slots: 1}
	slots := ""
	if rest, ok := strings.CutPrefix(s, "["); ok {
		name, after, ok := strings.Cut(rest, "]")
		if !ok {
			return h, fmt.Errorf("%q: bracket is not closed", s)
		}
		h.Name, slots = name, after
		if slots != "" && slots[0] != ':' {
			return h, fmt.Errorf("%q: expected :slots after the bracket", s)
		}
	} else if strings.Count(s, ":") == 1 {
		i := strings.IndexByte(s, ':')
		h.Name, slots = s[:i], s[i:]
	}
	if slots != "" {
		n, err := strconv.Atoi(slots[1:])
		if err != nil || n < 1 || n > MaxSlots {
			return h, fmt.Errorf("%q: slots must be a number from 1 to %d", s, MaxSlots)
		}
		h.Slots = n
	}
	if reason := badName(h.Name); reason != "" {
		return h, fmt.Errorf("%q: %s", s, reason)
	}
	if _, err := netip.ParseAddr(h.Name); err == nil && !h.Local() {
		h.Addrs = []string{h.Name}
	}
	return h, nil
}

// FromHostfile returns the hosts of a hostfile.
func FromHostfile(f *rendezvous.Hostfile) ([]Host, error) {
	var hs []Host
	for i := range f.Hosts {
		from := &f.Hosts[i]
		h := Host{Name: from.SSH, Label: from.Label(), Slots: max(from.Slots, 1), RDMA: from.RDMA}
		if h.Name == "" {
			h.Name = h.Label
		}
		if reason := badName(h.Name); reason != "" {
			return nil, fmt.Errorf("%s: host %d: %q: %s", f.Path, i, h.Name, reason)
		}
		for _, addr := range from.Addrs {
			if host, _, err := net.SplitHostPort(addr); err == nil {
				addr = host
			}
			h.Addrs = append(h.Addrs, addr)
		}
		hs = append(hs, h)
	}
	return hs, nil
}

// badName returns why a name cannot be passed to ssh, or "". Above all, ssh would take a
// name that begins with a dash for an option.
func badName(name string) string {
	switch {
	case name == "":
		return "empty host name"
	case name[0] == '-':
		return "host name begins with a dash"
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "host name contains a space or a control character"
	}
	return ""
}
