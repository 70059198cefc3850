package probe

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

func TestParseIfconfig(t *testing.T) {
	// As macOS 26 prints it, shortened to what matters.
	text := `lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> mtu 16384
	inet 127.0.0.1 netmask 0xff000000
en0: flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500
	ether a:1b:2c:3d:4e:5f
	inet6 fe80::c1e:5%en0 prefixlen 64 secured scopeid 0xb
	inet 192.168.1.11 netmask 0xffffff00 broadcast 192.168.1.255
	media: autoselect (2500Base-T <full-duplex>)
	status: active
en4: flags=8963<UP,BROADCAST,SMART,PROMISC,SIMPLEX,MULTICAST> mtu 9000
	status: inactive
bridge0: flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500
	member: en4 flags=3<LEARNING,DISCOVER>
	        ifmaxaddr 0 port 12 priority 0 path cost 0
`
	list, err := ParseIfconfig([]byte(text))
	if err != nil || len(list) != 4 {
		t.Fatal(err, list)
	}
	en0, en4, bridge := list[1], list[2], list[3]
	if en0.MAC != "0a:1b:2c:3d:4e:5f" || en0.Mbps != 2500 || !en0.Running {
		t.Errorf("en0: %+v", en0)
	}
	if p, ok := en0.IPv4(); !ok || p != netip.MustParsePrefix("192.168.1.11/24") {
		t.Errorf("en0 has %v", en0.Addrs)
	}
	if en4.Bridge != "bridge0" || en4.Running || en4.MTU != 9000 {
		t.Errorf("en4: %+v", en4)
	}
	if bridge.Kind != "bridge" || !reflect.DeepEqual(bridge.Members, []string{"en4"}) {
		t.Errorf("bridge0: %+v", bridge)
	}
}

func TestSelfAssignedIsNoAddress(t *testing.T) {
	i := Interface{Addrs: []netip.Prefix{netip.MustParsePrefix("169.254.7.7/16"), netip.MustParsePrefix("fe80::1/64")}}
	if p, ok := i.IPv4(); ok {
		t.Errorf("%v counts as an address", p)
	}
}

func TestParseNetstat(t *testing.T) {
	text := `Routing tables

Internet:
Destination        Gateway            Flags               Netif Expire
default            192.168.1.1        UGScg                 en0
10/8               10.0.0.1           UGSc                utun4
127                127.0.0.1          UCS                   lo0
169.254            link#11            UCS                   en0      !
192.168.1          link#11            UCS                   en0      !
192.168.1.1/32     link#11            UCS                   en0      !
224.0.0/4          link#11            UmCS                  en0      !
`
	got, err := ParseNetstat([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0.0.0.0/0 en0", "10.0.0.0/8 utun4", "127.0.0.0/8 lo0", "169.254.0.0/16 en0", "192.168.1.0/24 en0", "192.168.1.1/32 en0", "224.0.0.0/4 en0"}
	for i, r := range got {
		if s := r.Dst.String() + " " + r.Interface; i >= len(want) || s != want[i] {
			t.Errorf("route %d is %s", i, s)
		}
	}
}

func TestParseARP(t *testing.T) {
	got := ParseARP([]byte("? (10.0.0.2) at 36:5:f5:8:96:57 on en5 ifscope [ethernet]\n? (10.0.0.3) at (incomplete) on en5 ifscope [ethernet]\n? (10.0.0.255) at ff:ff:ff:ff:ff:ff on en5 ifscope [ethernet]\n"))
	if len(got) != 1 || got[0].MAC != "36:05:f5:08:96:57" || got[0].Interface != "en5" {
		t.Errorf("%+v", got)
	}
}

func TestParseBolt(t *testing.T) {
	// Published in a bug report; the second device as on a terminal without line
	// drawing.
	text := ` ● Razer Core
   ├─ type:          peripheral
   ├─ name:          Core
   ├─ vendor:        Razer
   ├─ uuid:          c0030000-00a2-8508-2219-f4d4d2c1a918
   ├─ generation:    Thunderbolt 3
   ├─ status:        authorized
   │  ├─ domain:     c6030000-0080-7518-2391-a4e51a82e819
   │  ├─ rx speed:   40 Gb/s = 2 lanes * 20 Gb/s
   │  └─ authflags:  none
   └─ stored:        Fri 27 Sep 2019 01:14:20
      ├─ policy:     iommu
      └─ key:        no

 * Echo SE I T5
   |- uuid:        d5010000-0080-8f08-23b2-0d4a0952a11d
   |- vendor:      Sonnet
   |- status:      connected
   ` + "`- stored:      no\n"
	got, err := ParseBolt([]byte(text))
	want := []BoltDevice{
		{Name: "Razer Core", Vendor: "Razer", UUID: "C0030000-00A2-8508-2219-F4D4D2C1A918", Type: "peripheral", Status: "authorized", Policy: "iommu"},
		{Name: "Echo SE I T5", Vendor: "Sonnet", UUID: "D5010000-0080-8F08-23B2-0D4A0952A11D", Status: "connected"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%+v", err, got)
	}
}

func TestParseIBV(t *testing.T) {
	// Published by the owner of two MacBooks; the GIDs are added.
	text := "hca_id:\trdma_en1\n\ttransport:\t\t\tThunderbolt (100)\n\tnode_guid:\t\t\t0000:0000:0000:0002\n\tphys_port_cnt:\t\t\t1\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_DOWN (1)\n\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t4096 (5)\n\t\t\tlink_layer:\t\tThunderbolt\n" +
		"\t\t\tGID[  0]:\t\tfe80:0000:0000:0000:3405:f5ff:fe01:9657\n\t\t\tGID[  2]:\t\t::ffff:10.0.0.1, RoCE v2\n"
	got := ParseIBVDevinfo([]byte(text))
	if len(got) != 1 || len(got[0].Ports) != 1 {
		t.Fatalf("%+v", got)
	}
	p := got[0].Ports[0]
	if got[0].Transport != "Thunderbolt" || p.State != "DOWN" || p.MTU != 4096 || p.IPv4GID() != 2 || p.Active() {
		t.Errorf("%+v", got[0])
	}
	empty := "    device          \t   node GUID\n    ------          \t----------------\n"
	if d := ParseIBVDevices([]byte(empty)); len(d) != 0 {
		t.Errorf("header only: %v", d)
	}
	if d := ParseIBVDevices([]byte(empty + "    rdma_en4        \t0a1b2c3d4e5f6071\n")); !reflect.DeepEqual(d, []string{"rdma_en4"}) {
		t.Errorf("%v", d)
	}
}

func TestTBNames(t *testing.T) {
	n, ok := parseTBName("1-70301")
	if !ok || n.port() != 1 || n.depth() != 3 || n.parent() != (tbName{1, 0x301}) || n.parent().parent().parent() != (tbName{1, 0}) {
		t.Errorf("%+v", n)
	}
	for _, bad := range []string{"", "0", "0-1.0", "0-0:1.1", "domain0", "-1", "x-1"} {
		if _, ok := parseTBName(bad); ok {
			t.Errorf("%q is taken for a device", bad)
		}
	}
}

func TestSpeeds(t *testing.T) {
	for text, want := range map[string]float64{"Up to 120 Gb/s": 120, "80 Gb/s": 80, "": 0, "fast": 0, "Up to ": 0, "-4 Gb/s": 0} {
		if got, _ := profilerSpeed(text); got != want {
			t.Errorf("%q is %v", text, got)
		}
	}
	if g, n := tbSpeed("40.0 Gb/s", "2"); g != 80 || n != 2 {
		t.Errorf("two lanes of 40: %v, %d", g, n)
	}
}

func TestLimits(t *testing.T) {
	text := "Limit                     Soft Limit           Hard Limit           Units\nMax locked memory         8388608              unlimited            bytes\n"
	if n, unlimited := ParseLimits([]byte(text)); n != 8388608 || unlimited {
		t.Error(n, unlimited)
	}
	if _, unlimited := ParseUlimit([]byte("unlimited\n")); !unlimited {
		t.Error("unlimited is not")
	}
	if n, _ := ParseUlimit([]byte("64\n")); n != 65536 {
		t.Error(n)
	}
}

func TestProblemsAreNamed(t *testing.T) {
	ms, err := Captured(t.Context(), "../../doctor/testdata/stories/surprising-output.txtar")
	if err != nil {
		t.Fatal(err)
	}
	m := ms[1]
	if len(m.Problems) != 4 {
		t.Errorf("%d problems: %v", len(m.Problems), m.Problems)
	}
	for _, p := range m.Problems {
		if !strings.HasPrefix(p.String(), "could not read ") {
			t.Errorf("%q", p)
		}
	}
	if m.CPU.Model == "" || len(m.RDMA.Devices) == 0 || m.Memory == 0 {
		t.Error("what can be read is missing")
	}
}

// Devices behind a dock on Linux: the route tells what is plugged into what.
func TestLinuxHub(t *testing.T) {
	files := fileTree{}
	for name, text := range map[string]string{
		"domain0/security": "user", "domain0/iommu_dma_protection": "1",
		"0-0/unique_id": "aaaa", "0-0/generation": "4", "0-0/usb4_port1/link": "usb4", "0-0/usb4_port3/link": "none",
		"0-1/unique_id": "bbbb", "0-1/device_name": "Dock", "0-1/authorized": "1", "0-1/rx_speed": "20.0 Gb/s", "0-1/rx_lanes": "2",
		"0-301/unique_id": "cccc", "0-301/device_name": "far", "0-301/rx_speed": "10.0 Gb/s", "0-301/rx_lanes": "2",
		"0-301.0/key": "network", "0-301.0/net/thunderbolt0/type": "1",
		"0-501/unique_id": "dddd", "0-501/device_name": "Drive", "0-501/authorized": "0",
		"0-0:1.1/vendor": "0x8087", "usb4_port1/x": "",
	} {
		if err := files.add(tbDevices+"/"+name, []byte(text+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	tb, err := readTBSysfs(newTree(files, "."))
	if err != nil || len(tb.Ports) != 2 || tb.Ports[1].Connected {
		t.Fatalf("%v %+v", err, tb)
	}
	var hosts []string
	tb.Ports[0].Hosts(func(n *Node, via []*Node) {
		hosts = append(hosts, n.Name+" by "+n.Interface+" via "+via[0].Name)
		if n.Gbps != 20 {
			t.Errorf("speed %v", n.Gbps)
		}
	})
	if len(hosts) != 1 || hosts[0] != "far by thunderbolt0 via Dock" {
		t.Errorf("%v", hosts)
	}
	unauthorised := 0
	tb.Ports[0].AllDevices(func(n *Node) {
		if n.Authorized != nil && *n.Authorized == 0 {
			unauthorised++
		}
	})
	if unauthorised != 1 || tb.Domains[0].IOMMU == nil || !*tb.Domains[0].IOMMU || tb.Domains[0].Security != "user" {
		t.Errorf("%d unauthorised, %+v", unauthorised, tb.Domains[0])
	}
}
