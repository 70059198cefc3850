package rendezvous

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParseEndpoint(t *testing.T) {
	tests := []struct {
		in, canon, err string
		loopback       bool
	}{
		{in: "10.0.0.1:7000", canon: "10.0.0.1:7000"},
		{in: "10.0.0.1", canon: "10.0.0.1"},
		{in: "127.0.0.1:7000", canon: "127.0.0.1:7000", loopback: true},
		{in: "127.9.9.9:7000", canon: "127.9.9.9:7000", loopback: true},
		{in: "[::1]:7000", canon: "[::1]:7000", loopback: true},
		{in: "[::ffff:127.0.0.1]:7000", canon: "127.0.0.1:7000", loopback: true},
		{in: "localhost:7000", canon: "localhost:7000", loopback: true},
		{in: "[FD00::0001]:7000", canon: "[fd00::1]:7000"},
		{in: "fd00::1", canon: "fd00::1"},
		{in: "[fe80::1%en5]:7000", canon: "[fe80::1%en5]:7000"},
		{in: "[fe80::1%4]:7000", canon: "[fe80::1%4]:7000"},
		{in: "fe80::1%eth0.5", canon: "fe80::1%eth0.5"},
		{in: "[fe80::1%en5]", canon: "fe80::1%en5"},
		{in: "Studio-1.local:7000", canon: "studio-1.local:7000"},
		{in: ":7000", canon: ":7000"},
		{in: "0.0.0.0:0", canon: "0.0.0.0:0"},
		{in: "", err: "is empty"},
		{in: "fe80::1", err: "is link-local and needs its interface"},
		{in: "[fe80::1]:7000", err: "is link-local and needs its interface"},
		{in: "fe80::1%en5]:7000", err: "is not the name of an interface"},
		{in: "fd00::1:2:3:4:5:6:7:7000:9", err: "write IPv6 with a port as [address]:port"},
		{in: "[fd00::1", err: "write host:port"},
		{in: "10.0.0.1:", err: `has the port ""`},
		{in: "10.0.0.1:http", err: `has the port "http"`},
		{in: "10.0.0.1:65536", err: `has the port "65536"`},
		{in: "10.0.0.1:-1", err: `has the port "-1"`},
		{in: "10.0.0.256:1", err: "is neither an IP address nor a host name"},
		{in: "a b:1", err: "is neither an IP address nor a host name"},
		{in: "http://a:1", err: "is not an address"},
		{in: strings.Repeat("a", 300) + ":1", err: "is neither"},
	}
	for _, tt := range tests {
		e, err := parseEndpoint(tt.in)
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: error %v, want %q", tt.in, err, tt.err)
			}
		case err != nil || e.String() != tt.canon || e.loopback() != tt.loopback:
			t.Errorf("%q = %q (loopback %v), %v; want %q (loopback %v)", tt.in, e, e.loopback(), err, tt.canon, tt.loopback)
		}
	}
}

func TestExplicitPeers(t *testing.T) {
	got, err := explicitPeers(0, []string{"0.0.0.0:7000", "10.0.0.2:7000, [FE80::2%en5]:7000"})
	want := []Peer{
		{"0.0.0.0", []string{"0.0.0.0:7000"}, listed(0)},
		{"10.0.0.2", []string{"10.0.0.2:7000", "[fe80::2%en5]:7000"}, listed(1)},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}

	bad := []struct {
		entries []string
		rank    int
		text    string
	}{
		{[]string{"10.0.0.1:7000", "10.0.0.2"}, 1, `address of rank 1: "10.0.0.2" has no port; write host:port`},
		{[]string{"10.0.0.1:7000", "0.0.0.0:7000"}, 1, `address of rank 1: "0.0.0.0:7000" is not an address that others can connect to; give one of the machine's own addresses`},
		{[]string{"10.0.0.1:0", "10.0.0.2:7000"}, 0, `address of rank 0: "10.0.0.1:0" has port 0, which nobody can connect to`},
		{[]string{"0.0.0.0:0", "10.0.0.2:7000"}, 0, `address of rank 0: "0.0.0.0:0" has port 0, which nobody can connect to`},
		{[]string{"10.0.0.1:7000", "10.0.0.2:7000,10.0.0.1:7000"}, 1, `address of rank 1: "10.0.0.1:7000" is already an address of rank 0`},
		{[]string{"[fd00::1]:7000", "[fd00::0:1]:7000"}, 1, `address of rank 1: "[fd00::0:1]:7000" is already an address of rank 0`},
		{[]string{"a:1", ""}, 1, `address of rank 1: "" is empty`},
		{[]string{"a:1," + strings.Repeat("b:1,", MaxRails)}, 0, `address of rank 0: "b:1" is one too many; a rank has at most 64`},
	}
	for _, tt := range bad {
		_, err := explicitPeers(0, tt.entries)
		aerr, ok := errors.AsType[*AddrError](err)
		if !ok || aerr.Rank != tt.rank || aerr.Error() != tt.text {
			t.Errorf("%q\n got %v\nwant %s", tt.entries, err, tt.text)
		}
	}
}

func TestCheckExposure(t *testing.T) {
	tests := []struct {
		addrs    []string
		token    string
		insecure bool
		exposed  string
	}{
		{addrs: []string{"127.0.0.1:7000", "[::1]:7000", "localhost:7000"}},
		{addrs: []string{"10.0.0.1:7000"}, token: "k"},
		{addrs: []string{":7000"}, insecure: true},
		{addrs: []string{"127.0.0.1:7000", "10.0.0.1:7000"}, exposed: "10.0.0.1:7000"},
		{addrs: []string{":7000"}, exposed: ":7000"},
		{addrs: []string{"0.0.0.0:0"}, exposed: "0.0.0.0:0"},
		{addrs: []string{"[::]:0"}, exposed: "[::]:0"},
		{addrs: []string{"[fe80::1%en5]:0"}, exposed: "[fe80::1%en5]:0"},
		{addrs: []string{"mac.local:7000"}, exposed: "mac.local:7000"},
	}
	for _, tt := range tests {
		err := CheckExposure(tt.addrs, []byte(tt.token), tt.insecure)
		exposure, ok := errors.AsType[*ExposureError](err)
		if ok != (tt.exposed != "") || (ok && exposure.Addr != tt.exposed) || (!ok && err != nil) {
			t.Errorf("%v token %q insecure %v: %v", tt.addrs, tt.token, tt.insecure, err)
		}
		if ok && !(strings.Contains(err.Error(), "THUNDER_TOKEN") && strings.Contains(err.Error(), "--insecure")) {
			t.Errorf("the error does not say what to do: %v", err)
		}
	}
	if err := CheckExposure([]string{"fe80::1"}, nil, false); err == nil {
		t.Error("a malformed address passed")
	}
}
