package tcp_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"thundercollective/fabric/tcp"
)

// TestLinkLocal runs itself again in a network namespace of its own with one
// cable in it, a veth pair, whose ends have link-local addresses only:
//
//	fe80::1%cable0 ───── fe80::2%cable1
func TestLinkLocal(t *testing.T) {
	const child = "THUNDER_TEST_NAMESPACE"
	if os.Getenv(child) == "" {
		if os.Geteuid() != 0 {
			t.Skip("SKIPPED: needs root to make a network namespace")
		}
		if _, err := exec.LookPath("ip"); err != nil {
			t.Skip("SKIPPED: needs the ip command (iproute2)")
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestLinkLocal$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("in the namespace: %v\n%s", err, out)
		}
		return
	}
	for _, args := range [][]string{
		{"link", "add", "cable0", "type", "veth", "peer", "name", "cable1"},
		{"link", "set", "lo", "up"},
		{"link", "set", "cable0", "up"},
		{"link", "set", "cable1", "up"},
		{"-6", "addr", "add", "fe80::1/64", "dev", "cable0", "nodad"},
		{"-6", "addr", "add", "fe80::2/64", "dev", "cable1", "nodad"},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v\n%s", args, err, out)
		}
	}
	var lns []*tcp.Listener
	var peers [][]string
	for _, addr := range []string{"[fe80::1%cable0]:0", "[fe80::2%cable1]:0"} {
		ln, err := tcp.Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		lns, peers = append(lns, ln), append(peers, ln.Addrs())
	}
	f0 := newFabric(t, lns[0], tcp.Config{Rank: 0, Peers: peers})
	f1 := newFabric(t, lns[1], tcp.Config{Rank: 1, Peers: peers})
	a, b := connect(t, f0, f1, 1)
	echo(t, a, b)
}
