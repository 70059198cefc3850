package probe

import (
	"strconv"
	"strings"
)

// ParseOSRelease parses /etc/os-release.
func ParseOSRelease(b []byte) (name, version string) {
	for line := range strings.Lines(string(b)) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		v = strings.Trim(v, `"'`)
		switch k {
		case "PRETTY_NAME":
			name = v
		case "VERSION_ID":
			version = v
		}
	}
	return name, version
}

// ParseSwVers parses `sw_vers`.
func ParseSwVers(b []byte) OS {
	kv := ParseSysctl(b)
	return OS{Kind: "darwin", Name: kv["ProductName"], Version: kv["ProductVersion"], Build: kv["BuildVersion"]}
}

// ParseCPUInfo parses /proc/cpuinfo of x86, and of Arm, where the model may be missing.
func ParseCPUInfo(b []byte) CPU {
	var c CPU
	for line := range strings.Lines(string(b)) {
		k, v, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		switch strings.TrimSpace(k) {
		case "processor":
			c.Cores++
		case "model name", "Model":
			c.Model = strings.TrimSpace(v)
		}
	}
	return c
}

// ParseMemInfo returns the total of /proc/meminfo, in bytes.
func ParseMemInfo(b []byte) uint64 {
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			num, _, _ := strings.Cut(strings.TrimSpace(v), " ")
			kib, err := strconv.ParseUint(num, 10, 53)
			if err == nil {
				return kib << 10
			}
		}
	}
	return 0
}

// wantedModules are the kernel modules that transports need.
var wantedModules = []string{
	"thunderbolt", "thunderbolt_net", "thunderbolt_stream", "thunderbolt_ibverbs",
	"mlx5_core", "mlx5_ib", "ib_uverbs", "ib_core", "rdma_rxe", "rdma_ucm",
}

// ParseModules returns those modules of /proc/modules that matter here.
func ParseModules(b []byte) []string {
	loaded := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		name, _, _ := strings.Cut(line, " ")
		loaded[strings.TrimSpace(name)] = true
	}
	var out []string
	for _, m := range wantedModules {
		if loaded[m] {
			out = append(out, m)
		}
	}
	return out
}

// ParseLimits returns the soft limit of locked memory from /proc/self/limits.
func ParseLimits(b []byte) (memlock uint64, unlimited bool) {
	for line := range strings.Lines(string(b)) {
		rest, ok := strings.CutPrefix(line, "Max locked memory")
		if !ok {
			continue
		}
		f := strings.Fields(rest)
		if len(f) == 0 {
			break
		}
		if f[0] == "unlimited" {
			return 0, true
		}
		memlock, _ = strconv.ParseUint(f[0], 10, 64)
	}
	return memlock, false
}

// ParseUlimit parses `ulimit -l`: "unlimited" or KiB.
func ParseUlimit(b []byte) (memlock uint64, unlimited bool) {
	s := strings.TrimSpace(string(b))
	if s == "unlimited" {
		return 0, true
	}
	kib, err := strconv.ParseUint(s, 10, 53)
	if err != nil {
		return 0, false
	}
	return kib << 10, false
}

// lastUint returns the last number of a line, such as the maximum in
// "4096 131072 6291456".
func lastUint(s string) uint64 {
	f := strings.Fields(s)
	if len(f) == 0 {
		return 0
	}
	v, _ := strconv.ParseUint(f[len(f)-1], 10, 64)
	return v
}
