package probe

import (
	"errors"
	"strings"
)

// ParseHardwarePorts parses `networksetup -listallhardwareports` and returns the hardware
// port ("Thunderbolt 2") of each interface ("en3").
func ParseHardwarePorts(b []byte) (map[string]string, error) {
	ports := map[string]string{}
	port := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, "Hardware Port:"); ok {
			port = strings.TrimSpace(v)
		}
		if v, ok := strings.CutPrefix(line, "Device:"); ok && port != "" {
			if dev := strings.TrimSpace(v); dev != "" {
				ports[dev] = port
			}
			port = ""
		}
	}
	if len(ports) == 0 {
		return nil, errors.New("it lists no hardware port")
	}
	return ports, nil
}

// ParseSysctl parses lines of "name: value" (macOS) or "name = value" (Linux).
func ParseSysctl(b []byte) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		k, v, ok := strings.Cut(line, ":")
		if k2, v2, ok2 := strings.Cut(line, " = "); ok2 && (!ok || len(k2) < len(k)) {
			k, v, ok = k2, v2, true
		}
		if ok {
			out[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return out
}

// ParseRDMAControl parses `rdma_ctl status`: "enabled" or "disabled".
func ParseRDMAControl(b []byte) (string, error) {
	s := strings.ToLower(strings.TrimSpace(string(b)))
	switch {
	case strings.Contains(s, "disabled"):
		return "disabled", nil
	case strings.Contains(s, "enabled"):
		return "enabled", nil
	}
	return "", errors.New("its output contains neither enabled nor disabled")
}

// ParseFirewall parses `socketfilterfw --getglobalstate`.
func ParseFirewall(b []byte) (string, error) {
	s := string(b)
	switch {
	case strings.Contains(s, "State = 2"):
		return "block-all", nil
	case strings.Contains(s, "State = 1"), strings.Contains(s, "enabled"):
		return "on", nil
	case strings.Contains(s, "State = 0"), strings.Contains(s, "disabled"):
		return "off", nil
	}
	return "", errors.New("its output contains no state")
}
