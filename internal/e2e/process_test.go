package e2e_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/patience"
)

// roleVar makes a copy of the test binary play a part instead of testing.
const roleVar = "THUNDER_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVar); role {
	case "":
		os.Exit(m.Run())
	case "loop":
		os.Exit(loopRole())
	case "memory":
		os.Exit(memoryRole())
	case "reform":
		os.Exit(reformRole())
	case "hosts":
		os.Exit(hostsRole())
	case "chaos":
		os.Exit(chaosRole())
	case "attack":
		os.Exit(attackRole())
	default:
		fmt.Fprintf(os.Stderr, "no role %q\n", role)
		os.Exit(2)
	}
}

// A process is a rank in a process of its own.
type process struct {
	*exec.Cmd
	out *bufio.Reader
	in  io.WriteCloser
}

// startRanks starts n processes that play a role.
func startRanks(t *testing.T, n int, role string, env ...string) []process {
	t.Helper()
	coordinator(t, n)
	ps := make([]process, n)
	for r := range ps {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVar+"="+role, fmt.Sprintf("THUNDER_RANK=%d", r), fmt.Sprintf("THUNDER_WORLD_SIZE=%d", n))
		cmd.Env = append(cmd.Env, env...)
		ps[r] = startProcess(t, cmd)
	}
	return ps
}

// startProcess starts a process that does not outlive the test.
func startProcess(t *testing.T, cmd *exec.Cmd) process {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return process{cmd, bufio.NewReader(out), in}
}

// loopRole reduces, or exchanges blocks, until something breaks, and prints what.
func loopRole() int {
	go func() { io.Copy(io.Discard, os.Stdin); os.Exit(9) }() // the test is gone
	ctx := context.Background()
	c, err := thunder.Init(ctx, thunder.Options{Transport: thunder.Transport{Fabric: os.Getenv("THUNDER_FABRIC")}})
	if err != nil {
		fmt.Println("init:", err)
		return 2
	}
	defer c.Close()
	buf := make([]float32, 1<<20)
	operate := func() error { return thunder.AllReduce(ctx, c, buf, thunder.Max) }
	if os.Getenv("THUNDER_TEST_MODE") == "alltoall" {
		result := make([]float32, len(buf))
		operate = func() error { return thunder.AllToAll(ctx, c, result, buf) }
	}
	for i := 0; ; i++ {
		if err := operate(); err != nil {
			var lost *thunder.PeerLostError
			if errors.As(err, &lost) {
				fmt.Println("lost", lost.Rank, err)
				return 1
			}
			fmt.Println("error", err)
			return 3
		}
		if i == 3 {
			fmt.Println("working")
		}
	}
}

// TestKilled kills a rank in the middle of its work: one that sends messages, and one
// whose memory the others read. The others say which one, all the same, in time, and end.
func TestKilled(t *testing.T) {
	for _, tt := range []struct {
		fabric, portable, mode string
		n, victim              int
	}{
		{"tcp", "", "allreduce", 4, 2},
		{"shm", "", "allreduce", 2, 1},
		{"shm", "", "alltoall", 4, 0},
		{"shm", "1", "allreduce", 2, 1},
		{"shm", "1", "alltoall", 4, 0},
	} {
		t.Run(fmt.Sprintf("%s%s %s, %d ranks", tt.fabric, tt.portable, tt.mode, tt.n), func(t *testing.T) {
			ps := startRanks(t, tt.n, "loop", "THUNDER_FABRIC="+tt.fabric, "THUNDER_TEST_MODE="+tt.mode, "THUNDER_SHM_PORTABLE="+tt.portable)
			for r, p := range ps {
				if line, err := p.out.ReadString('\n'); err != nil || line != "working\n" {
					t.Fatalf("rank %d: %q, %v", r, line, err)
				}
			}
			ps[tt.victim].Process.Kill()
			killed, clock := time.Now(), patience.Start()
			defer clock.Stop()
			var wg sync.WaitGroup
			for r, p := range ps {
				wg.Go(func() {
					line, _ := p.out.ReadString('\n')
					took, given := time.Since(killed), clock.Given()
					p.Wait()
					if r == tt.victim {
						return
					}
					t.Logf("rank %d after %v, of which it was given %v: %s", r, took.Round(time.Millisecond), given.Round(time.Millisecond), line)
					if !strings.HasPrefix(line, "lost "+strconv.Itoa(tt.victim)) || p.ProcessState.ExitCode() != 1 {
						t.Errorf("rank %d: %q, exit code %d", r, line, p.ProcessState.ExitCode())
					}
					if given > 5*time.Second {
						t.Errorf("rank %d took %v", r, given)
					}
				})
			}
			wg.Wait()
		})
	}
}

// memoryAlgos are the algorithms between two ranks.
var memoryAlgos = []thunder.Algo{thunder.Ring, thunder.BiRing, thunder.Direct, thunder.Doubling, thunder.HalvingDoubling, thunder.Tree}

// memoryRole reduces one large buffer with one algorithm after the other, and prints by
// how much the process's peak exceeds the buffer after each.
func memoryRole() int {
	mib, _ := strconv.Atoi(os.Getenv("THUNDER_TEST_MIB"))
	ctx := context.Background()
	c, err := thunder.Init(ctx, thunder.Options{Transport: thunder.Transport{Fabric: "tcp"}})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	defer c.Close()
	// What is needed counts, not what the collector has not come to yet: it would let
	// garbage pile up to the size of the buffer.
	debug.SetMemoryLimit(int64(mib+16) << 20)
	mem := make([]byte, mib<<20)
	buf := words(mem)
	for _, algo := range memoryAlgos {
		for i := range buf {
			buf[i] = 1
		}
		if err := c.Do(ctx, &thunder.Request{Kind: thunder.KindAllReduce, DType: thunder.I32, Op: thunder.Sum, Algo: algo, Recv: mem}); err != nil {
			fmt.Println(algo, err)
			return 1
		}
		for i, v := range buf {
			if v != int32(c.Size()) {
				fmt.Printf("%v: element %d is %v\n", algo, i, v)
				return 1
			}
		}
		peak, err := peakMemory()
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("extra", algo, peak>>20-int64(mib))
	}
	return 0
}

// TestMemory reduces 1 GiB on two ranks with every algorithm. None needs more than 64 MiB
// beyond the buffer, the program itself and what the algorithms before it keep included.
func TestMemory(t *testing.T) {
	if _, err := peakMemory(); err != nil {
		t.Skipf("SKIPPED: cannot read the peak memory of a process here: %v", err)
	}
	if raceDetector {
		t.Skip("SKIPPED with the race detector, whose own memory is several times the buffer's; the run without it measures")
	}
	mib := 1024
	if testing.Short() {
		mib = 256
	}
	for r, p := range startRanks(t, 2, "memory", fmt.Sprintf("THUNDER_TEST_MIB=%d", mib)) {
		out, _ := io.ReadAll(p.out)
		if err := p.Wait(); err != nil {
			t.Fatalf("rank %d: %v\n%s", r, err, out)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(string(out)) {
			var algo string
			var extra int
			if _, err := fmt.Sscanf(line, "extra %s %d", &algo, &extra); err != nil {
				t.Fatalf("rank %d: %s", r, out)
			}
			seen[algo] = true
			t.Logf("rank %d, %s: %d MiB beyond the %d MiB buffer", r, algo, extra, mib)
			if extra > 64 {
				t.Errorf("rank %d needs %d MiB more than its buffer with %s, at most 64 are allowed", r, extra, algo)
			}
		}
		for _, algo := range memoryAlgos {
			if !seen[algo.String()] {
				t.Errorf("rank %d did not try %v", r, algo)
			}
		}
	}
}
