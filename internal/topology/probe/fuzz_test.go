package probe

import (
	"net/netip"
	"testing"

	"golang.org/x/tools/txtar"
)

// seed adds the captured files with the given names of all stories.
func seed(f *testing.F, names ...string) {
	for _, file := range stories(f) {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range a.Files {
			for _, n := range names {
				if len(x.Name) >= len(n) && x.Name[len(x.Name)-len(n):] == n {
					f.Add(x.Data)
					f.Add(x.Data[:len(x.Data)/2])
				}
			}
		}
	}
	f.Add([]byte(nil))
	f.Add([]byte("{}"))
	f.Add([]byte("[null]"))
}

// FuzzText passes the same input to every text parser. None may panic, and the results
// must be consistent.
func FuzzText(f *testing.F) {
	seed(f, "ifconfig_-a", "networksetup_-listallhardwareports", "netstat_-rn_-f_inet", "ibv_devinfo_-v", "boltctl_list",
		"proc/self/limits", "etc/os-release", "proc/modules", "pmset_-g", "pmset_-g_therm", "proc/cpuinfo", "proc/meminfo")
	f.Fuzz(func(t *testing.T, b []byte) {
		if list, err := ParseIfconfig(b); err == nil {
			for _, i := range list {
				if i.Name == "" {
					t.Error("an interface without a name")
				}
				checkPrefixes(t, i.Addrs)
			}
		}
		ParseHardwarePorts(b)
		if routes, err := ParseNetstat(b); err == nil {
			for _, r := range routes {
				checkPrefixes(t, []netip.Prefix{r.Dst})
			}
		}
		for _, d := range ParseIBVDevinfo(b) {
			for _, p := range d.Ports {
				if g := p.IPv4GID(); g >= len(p.GIDs) {
					t.Error("GID index out of range")
				}
			}
		}
		ParseIBVDevices(b)
		ParseARP(b)
		ParseBolt(b)
		ParseLimits(b)
		ParseUlimit(b)
		ParseOSRelease(b)
		ParseSwVers(b)
		ParseCPUInfo(b)
		ParseMemInfo(b)
		ParseModules(b)
		ParsePmset(b)
		ParsePmsetTherm(b)
		ParseRDMAControl(b)
		ParseFirewall(b)
		ParseSysctl(b)
	})
}

func checkPrefixes(t *testing.T, ps []netip.Prefix) {
	for _, p := range ps {
		if !p.IsValid() {
			t.Errorf("prefix %v", p)
		}
	}
}

func FuzzProfiler(f *testing.F) {
	seed(f, "system_profiler_SPThunderboltDataType_-json")
	f.Fuzz(func(t *testing.T, b []byte) {
		tb, err := ParseProfiler(b)
		if err != nil {
			return
		}
		for i := range tb.Ports {
			tb.Ports[i].Hosts(func(n *Node, via []*Node) {
				if n.Kind != KindHost || n.UUID == "" {
					t.Errorf("host %+v", n)
				}
			})
		}
		ParseDisplays(b)
	})
}

func FuzzIP(f *testing.F) {
	seed(f, "ip_-j_-d_addr", "ip_-j_route", "ip_-j_neigh")
	f.Fuzz(func(t *testing.T, b []byte) {
		if list, err := ParseIPAddr(b); err == nil {
			for _, i := range list {
				checkPrefixes(t, i.Addrs)
			}
		}
		ParseIPRoute(b)
		ParseIPNeigh(b)
	})
}

// FuzzTree changes files of a captured Linux machine and reads all of it.
func FuzzTree(f *testing.F) {
	a, err := txtar.ParseFile("../../doctor/testdata/stories/connectx-in-an-enclosure.txtar")
	if err != nil {
		f.Fatal(err)
	}
	files := fileTree{}
	var names []string
	for _, x := range a.Files {
		if err := files.add(x.Name, x.Data); err != nil {
			f.Fatal(err)
		}
		names = append(names, x.Name)
	}
	f.Add(uint(0), "-1", "0-1/authorized")
	f.Add(uint(7), "18446744073709551616", "sys/bus/thunderbolt/devices/9-ffffffffffffffff/unique_id")
	f.Add(uint(9), "999 GT/s", "sys/bus/thunderbolt/devices/0-301/device_name")
	f.Fuzz(func(t *testing.T, which uint, text, extra string) {
		changed := fileTree{}
		for k, v := range files {
			changed[k] = v
		}
		changed[names[which%uint(len(names))]] = []byte(text)
		if err := changed.add("head-a/"+extra, []byte(text)); err != nil {
			return
		}
		// Not through Probe, which would turn a panic into a Problem.
		src := newTree(changed, "head-a")
		readTBSysfs(src)
		readRDMASysfs(src)
		readPCI(src)
		readThermal(src)
		readGPUs(src)
		linuxInterfaces(t.Context(), src)
	})
}
