package tcp_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/provider/tcp"
)

// roleVar tells a process started by TestLinkLocal which end of the cable it is.
const roleVar = "THUNDER_TEST_LINK_LOCAL_RANK"

// TestLinkLocal joins two network namespaces by one cable, a veth pair whose ends
// have link-local addresses only, and runs a rank in each:
//
//	[ rank 0: fe80::1%cable ] ───── [ rank 1: fe80::2%cable ]
func TestLinkLocal(t *testing.T) {
	if role := os.Getenv(roleVar); role != "" {
		linkLocalRank(t, role)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: needs root to make network namespaces")
	}
	for _, tool := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: needs the %s command", tool)
		}
	}
	var cmds [2]*exec.Cmd
	var outs [2]bytes.Buffer
	var starts [2]io.WriteCloser
	for r := range cmds {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLinkLocal$", "-test.timeout=30s")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", roleVar, r))
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
		cmd.Stdout, cmd.Stderr = &outs[r], &outs[r]
		var err error
		if starts[r], err = cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds[r] = cmd
	}
	ip := func(rank int, args string) {
		t.Helper()
		argv := append([]string{"-t", strconv.Itoa(cmds[rank].Process.Pid), "-n", "ip"}, strings.Fields(args)...)
		if out, err := exec.Command("nsenter", argv...).CombinedOutput(); err != nil {
			t.Errorf("ip %s: %v\n%s", args, err, out)
		}
	}
	ip(0, fmt.Sprintf("link add cable type veth peer name cable netns %d", cmds[1].Process.Pid))
	for r := range cmds {
		ip(r, fmt.Sprintf("-6 addr add fe80::%d/64 dev cable nodad", r+1))
	}
	for r := range cmds {
		ip(r, "link set cable up")
	}
	for r, cmd := range cmds {
		starts[r].Close() // they wait for the end of their input
		defer func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("rank %d: %v\n%s", r, err, &outs[r])
			}
		}()
	}
}

// linkLocalRank is one end, once its interface is there.
func linkLocalRank(t *testing.T, role string) {
	io.Copy(io.Discard, os.Stdin)
	rank, _ := strconv.Atoi(role)
	peers := [][]string{{"[fe80::1%cable]:7411"}, {"[fe80::2%cable]:7411"}}
	ln, err := tcp.Listen(peers[rank]...)
	if err != nil {
		t.Fatal(err)
	}
	f := newFabric(t, ln, tcp.Config{Rank: rank, Peers: peers, Token: []byte("t")})
	l, err := f.Link(t.Context(), 1-rank, 1)
	if err != nil {
		t.Fatal(err)
	}
	tag, buf := &fabric.Tag{1}, bytes.Repeat([]byte{7}, 2*tcp.StripeMin)
	if rank == 0 {
		err = fabric.Send(t.Context(), l, tag, buf)
	} else {
		clear(buf)
		err = l.Recv(t.Context(), tag, buf)
		if buf[0] != 7 || buf[len(buf)-1] != 7 {
			t.Error("content differs")
		}
	}
	if err != nil {
		t.Error(err)
	}
	// The reverse direction tells rank 0 that all has arrived.
	if rank == 1 {
		err = fabric.Send(t.Context(), l, tag, buf[:8])
	} else {
		err = l.Recv(t.Context(), tag, buf[:8])
	}
	if err != nil {
		t.Error(err)
	}
}
