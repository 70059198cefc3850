package rdma_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"thundercollective/fabric"
	"thundercollective/fabric/fabrictest"
	"thundercollective/internal/provider/mem"
	"thundercollective/internal/provider/rdma"
	"thundercollective/internal/provider/tcp"
)

// The tests of this file need a real device, such as soft-RoCE; scripts/rdma-vm.sh
// boots a machine that has two.
const (
	deviceEnv  = "THUNDER_TEST_RDMA"         // name of the device
	secondEnv  = "THUNDER_TEST_RDMA_SECOND"  // of another one, for rails
	victimEnv  = "THUNDER_TEST_RDMA_VICTIM"  // set in the process that will be killed
	limitedEnv = "THUNDER_TEST_RDMA_LIMITED" // set in the one with little locked memory
)

func realDevices(t *testing.T) []string {
	t.Helper()
	first := os.Getenv(deviceEnv)
	if first == "" {
		t.Skipf("SKIPPED: needs a real device, named in %s (scripts/rdma-vm.sh brings one)", deviceEnv)
	}
	devs := []string{first}
	if second := os.Getenv(secondEnv); second != "" {
		devs = append(devs, second)
	}
	return devs
}

// everywhere is the row of a rank that uses the same devices to all peers.
func everywhere(n int, devs []string) [][]string {
	row := make([][]string, n)
	for p := range row {
		row[p] = devs
	}
	return row
}

// realRanks starts n ranks in this process, on a real device.
func realRanks(t testing.TB, n int, cfg rdma.Config) ([]fabric.Fabric, []fabric.Fabric) {
	t.Helper()
	boots, err := mem.New(n)
	if err != nil {
		t.Fatal(err)
	}
	fs := make([]fabric.Fabric, n)
	for r := range fs {
		f, err := rdma.New(context.Background(), boots[r], cfg)
		if err != nil {
			t.Fatal(err)
		}
		fs[r] = f
		t.Cleanup(func() {
			f.Close()
			if got := f.Resources(); got != (rdma.Resources{}) {
				t.Errorf("rank %d still holds %v", r, got)
			}
		})
	}
	return fs, boots
}

func TestDeviceConformance(t *testing.T) {
	devs := realDevices(t)
	for rails, spin := range map[int]time.Duration{1: 0, len(devs): 50 * time.Microsecond} {
		t.Run(fmt.Sprintf("rails=%d,spin=%v", rails, spin), func(t *testing.T) {
			boot := map[fabric.Fabric]fabric.Fabric{}
			fabrictest.Run(t, fabrictest.Harness{
				New: func(t testing.TB, n int) []fabric.Fabric {
					fs, boots := realRanks(t, n, rdma.Config{Devices: everywhere(n, devs[:rails]), Spin: spin})
					for r := range fs {
						boot[fs[r]] = boots[r]
					}
					return fs
				},
				Kill:  func(f fabric.Fabric) { boot[f].Close() },
				Large: 2 << 20, // emulation is slow, and more than the slots hold
			})
		})
	}
}

func TestDeviceRegisteredMemoryIsNotCopied(t *testing.T) {
	devs := realDevices(t)
	const n = 1<<20 + 333
	fs, _ := realRanks(t, 2, rdma.Config{Devices: everywhere(2, devs)})
	j := &job{fabrics: []*rdma.Fabric{fs[0].(*rdma.Fabric), fs[1].(*rdma.Fabric)}}
	a, b := j.join(t, 0, 1, 1)
	src, dst := buffer(t, j.fabrics[0], n, true), buffer(t, j.fabrics[1], n, true)
	for i := range 5 {
		pattern(src, i)
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := fabric.Send(context.Background(), a, &fabric.Tag{}, src); err != nil {
				t.Error(err)
			}
		})
		if err := b.Recv(context.Background(), &fabric.Tag{}, dst); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if !bytes.Equal(src, dst) {
			t.Fatal("wrong data")
		}
	}
	if sa, sb := rdma.StatsOf(a), rdma.StatsOf(b); sa.Copied+sb.Copied != 0 {
		t.Errorf("%d and %d bytes were copied", sa.Copied, sb.Copied)
	}
}

func TestDeviceBadInput(t *testing.T) {
	devs := realDevices(t)
	for _, tt := range []struct {
		cfg  rdma.Config
		want string
	}{
		{rdma.Config{Devices: [][]string{nil, {"mlx9"}}}, "RDMA device mlx9 does not exist; there is " + devs[0]},
		{rdma.Config{Devices: [][]string{nil, devs[:1]}, GIDIndex: 77}, "has no GID with index 77"},
		{rdma.Config{Devices: [][]string{nil, devs[:1]}, Port: 5}, "has no port 5"},
	} {
		boots, err := mem.New(2)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = rdma.New(context.Background(), boots[0], tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// TestDeviceLockedMemory runs into the limit on locked memory, which does not hold
// for root, so it does so as somebody else.
func TestDeviceLockedMemory(t *testing.T) {
	devs := realDevices(t)
	if os.Getenv(limitedEnv) == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestDeviceLockedMemory$")
		cmd.Env = append(os.Environ(), limitedEnv+"=1")
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	const limit = 256 << 10
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	fs, _ := realRanks(t, 2, rdma.Config{Devices: everywhere(2, devs[:1])})
	if _, err := fs[0].(*rdma.Fabric).Alloc(1 << 20); err == nil || !strings.Contains(err.Error(), "the limit on locked memory is 256 KiB; raise it (ulimit -l unlimited") {
		t.Errorf("Alloc: got %v, want the limit and the fix", err)
	}
}

// tcpRank joins one of two processes, for the set-up.
func tcpRank(rank int, addrs []string) (fabric.Fabric, error) {
	ln, err := tcp.Listen(addrs[rank])
	if err != nil {
		return nil, err
	}
	return tcp.New(ln, tcp.Config{Rank: rank, Peers: [][]string{{addrs[0]}, {addrs[1]}}, Token: []byte("secret"), Streams: 1})
}

// TestDeviceVictim is the other process of TestDeviceKilledProcess: it echoes
// until it is killed.
func TestDeviceVictim(t *testing.T) {
	addrs := strings.Split(os.Getenv(victimEnv), ",")
	if len(addrs) != 2 {
		t.Skip("runs only as a part of TestDeviceKilledProcess")
	}
	f := killable(t, 1, addrs, realDevices(t))
	ctx := context.Background()
	l, err := f.Link(ctx, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	buf := buffer(t, f, killSize, true)
	for i := 0; l.Recv(ctx, &fabric.Tag{byte(i)}, buf) == nil && fabric.Send(ctx, l, &fabric.Tag{byte(i)}, buf) == nil; i++ {
	}
}

const killSize = 1 << 20

func killable(t *testing.T, rank int, addrs, devs []string) *rdma.Fabric {
	t.Helper()
	boot, err := tcpRank(rank, addrs)
	if err != nil {
		t.Fatal(err)
	}
	f, err := rdma.New(context.Background(), boot, rdma.Config{Devices: everywhere(2, devs)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestDeviceKilledProcess kills a peer in the middle of a transfer. The survivor
// returns a typed error soon, and holds nothing once it is closed.
func TestDeviceKilledProcess(t *testing.T) {
	devs := realDevices(t)
	addrs := []string{"127.0.0.1:7101", "127.0.0.1:7102"}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestDeviceVictim$")
	cmd.Env = append(os.Environ(), victimEnv+"="+strings.Join(addrs, ","))
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	f := killable(t, 0, addrs, devs)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, err := f.Link(ctx, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	buf := buffer(t, f, killSize, true)
	var killed time.Time
	for i := 0; err == nil; i++ {
		if i == 3 {
			time.AfterFunc(3*time.Millisecond, func() { killed = time.Now(); cmd.Process.Kill() })
		}
		if err = fabric.Send(ctx, l, &fabric.Tag{byte(i)}, buf); err == nil {
			err = l.Recv(ctx, &fabric.Tag{byte(i)}, buf)
		}
	}
	var lost *fabric.LostError
	if !errors.As(err, &lost) || lost.Peer != 1 {
		t.Errorf("got %v, want a LostError for rank 1", err)
	}
	t.Logf("%v after the kill: %v", time.Since(killed), err)
	if err := f.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if got := f.Resources(); got != (rdma.Resources{}) {
		t.Errorf("still holds %v", got)
	}
}
