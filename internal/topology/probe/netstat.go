package probe

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ParseNetstat parses `netstat -rn -f inet` of macOS, which abbreviates networks: "10",
// "192.168.1", "10.0.0/24".
func ParseNetstat(b []byte) ([]Route, error) {
	var out []Route
	col := -1
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if f[0] == "Destination" {
			col = slices.Index(f, "Netif")
			continue
		}
		if col < 0 || len(f) <= col {
			continue
		}
		if p, ok := shortPrefix(f[0]); ok {
			out = append(out, Route{Dst: p, Interface: f[col]})
		}
	}
	if col < 0 {
		return nil, errors.New("it contains no route table")
	}
	return out, nil
}

func shortPrefix(s string) (netip.Prefix, bool) {
	if s == "default" {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0), true
	}
	net, lenText, hasLen := strings.Cut(s, "/")
	net, _, _ = strings.Cut(net, "%")
	parts := strings.Split(net, ".")
	if len(parts) > 4 {
		return netip.Prefix{}, false
	}
	n := len(parts) * 8
	var a [4]byte
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 10, 8)
		if err != nil {
			return netip.Prefix{}, false
		}
		a[i] = byte(v)
	}
	if hasLen {
		v, err := strconv.Atoi(lenText)
		if err != nil || v < 0 || v > 32 {
			return netip.Prefix{}, false
		}
		n = v
	}
	return netip.PrefixFrom(netip.AddrFrom4(a), n).Masked(), true
}

// ParseARP parses `arp -an` of macOS: "? (10.0.0.2) at 36:5:f5:8:96:57 on en5 ...".
func ParseARP(b []byte) []Neighbour {
	var out []Neighbour
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 6 || f[2] != "at" || f[4] != "on" {
			continue
		}
		a, err := netip.ParseAddr(strings.Trim(f[1], "()"))
		mac := normalMAC(f[3])
		if err != nil || mac == "" || mac == "ff:ff:ff:ff:ff:ff" {
			continue
		}
		out = append(out, Neighbour{Interface: f[5], MAC: mac, Addr: a})
	}
	return out
}
