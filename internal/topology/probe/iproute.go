package probe

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
)

type ipLink struct {
	Name     string   `json:"ifname"`
	Flags    []string `json:"flags"`
	MTU      int      `json:"mtu"`
	MaxMTU   int      `json:"max_mtu"`
	Master   string   `json:"master"`
	State    string   `json:"operstate"`
	LinkType string   `json:"link_type"`
	MAC      string   `json:"address"`
	Info     struct {
		Kind string `json:"info_kind"`
	} `json:"linkinfo"`
	Addrs []struct {
		Local  string `json:"local"`
		Prefix int    `json:"prefixlen"`
	} `json:"addr_info"`
}

// ParseIPAddr parses `ip -j -d addr`.
func ParseIPAddr(b []byte) ([]Interface, error) {
	var links []ipLink
	if err := json.Unmarshal(b, &links); err != nil {
		return nil, fmt.Errorf("parse interfaces: %w", err)
	}
	var out []Interface
	for _, l := range links {
		if l.Name == "" {
			continue
		}
		itf := Interface{
			Name: l.Name, MAC: normalMAC(l.MAC), MTU: l.MTU, MaxMTU: l.MaxMTU, Bridge: l.Master,
			Up: slices.Contains(l.Flags, "UP"), Running: slices.Contains(l.Flags, "LOWER_UP"),
			Kind: l.Info.Kind,
		}
		if itf.Kind == "" && l.LinkType == "loopback" {
			itf.Kind = "loopback"
		}
		for _, a := range l.Addrs {
			addr, err := netip.ParseAddr(a.Local)
			if err != nil || a.Prefix < 0 || a.Prefix > addr.BitLen() {
				continue
			}
			itf.Addrs = append(itf.Addrs, netip.PrefixFrom(addr, a.Prefix))
		}
		out = append(out, itf)
	}
	for i := range out {
		if j := slices.IndexFunc(out, func(o Interface) bool { return o.Name == out[i].Bridge }); j >= 0 {
			out[j].Members = append(out[j].Members, out[i].Name)
		}
	}
	return out, nil
}

// ParseIPRoute parses `ip -j route`.
func ParseIPRoute(b []byte) ([]Route, error) {
	var rows []struct {
		Dst string `json:"dst"`
		Dev string `json:"dev"`
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		return nil, fmt.Errorf("parse routes: %w", err)
	}
	var out []Route
	for _, r := range rows {
		p, err := netip.ParsePrefix(r.Dst)
		if err != nil {
			a, errAddr := netip.ParseAddr(r.Dst)
			switch {
			case r.Dst == "default":
				p = netip.PrefixFrom(netip.IPv4Unspecified(), 0)
			case errAddr == nil:
				p = netip.PrefixFrom(a, a.BitLen())
			default:
				continue
			}
		}
		out = append(out, Route{Dst: p, Interface: r.Dev})
	}
	return out, nil
}

// ParseIPNeigh parses `ip -j neigh`.
func ParseIPNeigh(b []byte) ([]Neighbour, error) {
	var rows []struct {
		Dst   string   `json:"dst"`
		Dev   string   `json:"dev"`
		MAC   string   `json:"lladdr"`
		State []string `json:"state"`
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		return nil, fmt.Errorf("parse neighbours: %w", err)
	}
	var out []Neighbour
	for _, r := range rows {
		a, err := netip.ParseAddr(r.Dst)
		mac := normalMAC(r.MAC)
		if err != nil || mac == "" || slices.Contains(r.State, "FAILED") {
			continue
		}
		out = append(out, Neighbour{Interface: r.Dev, MAC: mac, Addr: a})
	}
	return out, nil
}
