package probe

import (
	"errors"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ParseIfconfig parses `ifconfig -a` of macOS.
func ParseIfconfig(b []byte) ([]Interface, error) {
	var out []Interface
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			if itf, ok := ifconfigHead(line); ok {
				out = append(out, itf)
			}
			continue
		}
		if len(out) > 0 {
			ifconfigBody(&out[len(out)-1], strings.Fields(line))
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it lists no interface")
	}
	for i := range out {
		for _, m := range out[i].Members {
			if j := slices.IndexFunc(out, func(o Interface) bool { return o.Name == m }); j >= 0 {
				out[j].Bridge = out[i].Name
			}
		}
	}
	return out, nil
}

// ifconfigHead parses "en5: flags=8863<UP,BROADCAST,...> mtu 1500".
func ifconfigHead(line string) (Interface, bool) {
	name, rest, ok := strings.Cut(line, ": ")
	if !ok || name == "" || strings.ContainsAny(name, " \t") {
		return Interface{}, false
	}
	itf := Interface{Name: name}
	if _, after, ok := strings.Cut(rest, "<"); ok {
		flags, _, _ := strings.Cut(after, ">")
		list := strings.Split(flags, ",")
		itf.Up = slices.Contains(list, "UP")
		itf.Running = slices.Contains(list, "RUNNING")
		if slices.Contains(list, "LOOPBACK") {
			itf.Kind = "loopback"
		}
	}
	if _, after, ok := strings.Cut(rest, "mtu "); ok {
		itf.MTU, _ = strconv.Atoi(strings.TrimSpace(after))
	}
	if strings.HasPrefix(name, "bridge") {
		itf.Kind = "bridge"
	}
	return itf, true
}

func ifconfigBody(itf *Interface, f []string) {
	if len(f) < 2 {
		return
	}
	switch f[0] {
	case "ether":
		itf.MAC = normalMAC(f[1])
	case "status:":
		itf.Running = f[1] == "active"
	case "media:":
		itf.Mbps = mediaSpeed(f)
	case "member:":
		itf.Members = append(itf.Members, f[1])
	case "inet":
		a, err := netip.ParseAddr(f[1])
		if err != nil || !a.Is4() {
			return
		}
		if i := slices.Index(f, "netmask"); i >= 0 && i+1 < len(f) {
			if m, err := strconv.ParseUint(strings.TrimPrefix(f[i+1], "0x"), 16, 32); err == nil {
				itf.Addrs = append(itf.Addrs, netip.PrefixFrom(a, bits.OnesCount32(uint32(m))))
			}
		}
	case "inet6":
		host, _, _ := strings.Cut(f[1], "%")
		a, err := netip.ParseAddr(host)
		if err != nil || !a.Is6() {
			return
		}
		if i := slices.Index(f, "prefixlen"); i >= 0 && i+1 < len(f) {
			if n, err := strconv.Atoi(f[i+1]); err == nil && n >= 0 && n <= 128 {
				itf.Addrs = append(itf.Addrs, netip.PrefixFrom(a, n))
			}
		}
	}
}

// mediaSpeed parses "media: autoselect (10Gbase-T <full-duplex>)" and returns Mb/s. A
// Thunderbolt port has no such speed.
func mediaSpeed(f []string) int {
	for _, w := range f {
		num, ok := strings.CutPrefix(w, "(")
		if !ok {
			continue
		}
		digits := strings.TrimRight(num[:max(0, strings.Index(strings.ToLower(num), "base"))], "G")
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || v < 0 || v > 1e6 {
			return 0
		}
		if strings.Contains(num, "Gbase") {
			v *= 1000
		}
		return int(v)
	}
	return 0
}

// normalMAC returns a hardware address in lower case with two digits per byte (macOS
// omits leading zeros), or "" if s is not one.
func normalMAC(s string) string {
	parts := strings.Split(s, ":")
	if len(parts) != 6 {
		return ""
	}
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 16, 8)
		if err != nil {
			return ""
		}
		parts[i] = string([]byte{hexDigits[v>>4], hexDigits[v&15]})
	}
	return strings.Join(parts, ":")
}

const hexDigits = "0123456789abcdef"
