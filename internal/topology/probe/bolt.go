package probe

import (
	"errors"
	"strings"
)

// ParseBolt parses `boltctl list`: for each device a line with a bullet and its name,
// then a tree of "key: value".
func ParseBolt(b []byte) ([]BoltDevice, error) {
	var out []BoltDevice
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if name, ok := cutBullet(line); ok {
			out = append(out, BoltDevice{Name: name})
			continue
		}
		key, val, ok := strings.Cut(strings.TrimLeft(line, "├└│─|`- "), ":")
		if !ok || len(out) == 0 {
			continue
		}
		d := &out[len(out)-1]
		val = strings.TrimSpace(val)
		switch key {
		case "type":
			d.Type = val
		case "vendor":
			d.Vendor = val
		case "uuid":
			d.UUID = strings.ToUpper(val)
		case "status":
			d.Status = val
		case "policy":
			d.Policy = val
		}
	}
	for _, d := range out {
		if d.UUID == "" {
			return out, errors.New("it lists a device without uuid")
		}
	}
	return out, nil
}

func cutBullet(line string) (string, bool) {
	for _, bullet := range []string{"● ", "○ ", "* ", "o "} {
		if name, ok := strings.CutPrefix(line, bullet); ok {
			return strings.TrimSpace(name), true
		}
	}
	return "", false
}
