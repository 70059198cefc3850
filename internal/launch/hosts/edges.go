package hosts

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"thundercollective/internal/rendezvous"
)

// Edges converts cables between hosts of the list to cables between the ranks of p, in the
// form of THUNDER_EDGES: a machine need not know its name in a hostfile. An end that is an
// address stays one, as it identifies the rail of the cable. p may be the placement of a
// list that was shortened by First; cables of hosts without a rank are omitted.
func Edges(specs []rendezvous.EdgeSpec, list []Host, p Placement) (string, error) {
	var out []string
	for _, s := range specs {
		as, err := endsOf(s.A, list, p)
		if err != nil {
			return "", err
		}
		bs, err := endsOf(s.B, list, p)
		if err != nil {
			return "", err
		}
		for _, a := range as {
			for _, b := range bs {
				edge := a + "=" + b
				if s.Gbps > 0 {
					edge += "@" + strconv.FormatFloat(s.Gbps, 'g', -1, 64)
				}
				out = append(out, edge)
			}
		}
	}
	return strings.Join(out, ","), nil
}

// endsOf returns what one end of a cable stands for: an address, or ranks; nothing if it is
// on a host without a rank. The part after a slash is kept.
func endsOf(end string, list []Host, p Placement) ([]string, error) {
	name, service, has := strings.Cut(end, "/")
	ends, err := ranksOf(name, list, p)
	if has {
		for i := range ends {
			ends[i] += "/" + service
		}
	}
	return ends, err
}

func ranksOf(name string, list []Host, p Placement) ([]string, error) {
	if r, err := strconv.Atoi(name); err == nil {
		if r < 0 || r >= p.Size() {
			return nil, fmt.Errorf("cables: rank %d does not exist; the job has %d ranks", r, p.Size())
		}
		return []string{name}, nil
	}
	var ranks []string
	known := false
	for i := range list {
		isAddr := list[i].hasAddr(name)
		if !isAddr && !list[i].called(name) {
			continue
		}
		known = true
		for r, at := range p.Ranks {
			if at.Host != i {
				continue
			}
			if isAddr {
				return []string{name}, nil
			}
			ranks = append(ranks, strconv.Itoa(r))
		}
	}
	if !known {
		var names []string
		for i := range list {
			names = append(names, list[i].Name)
		}
		return nil, fmt.Errorf("cables: %q is not a rank, a host, or an address of a host; the hosts are %s", name, strings.Join(names, ", "))
	}
	return ranks, nil
}

// called reports whether name is the host's name, in a hostfile or for ssh.
func (h *Host) called(name string) bool {
	return name == h.Label || name == h.Name || name == h.Name[strings.LastIndexByte(h.Name, '@')+1:]
}

func (h *Host) hasAddr(name string) bool {
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil && slices.ContainsFunc(h.Addrs, func(a string) bool {
		own, err := netip.ParseAddr(a)
		return err == nil && own.WithZone("") == ip.WithZone("")
	})
}
