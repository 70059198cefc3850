package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/reduce"
)

// hostAddrs returns an address per rank on "hosts" of this machine, which loopback
// addresses stand for: one letter per rank says on which. The addresses are those of
// this process alone, so nobody else listens there.
func hostAddrs(t testing.TB, shape string) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: needs all of 127.0.0.0/8, and shared memory, as on Linux")
	}
	pid := os.Getpid()
	addrs := make([]string, len(shape))
	for r, host := range shape {
		addrs[r] = fmt.Sprintf("127.%d.%d.%d:%d", 1+pid>>8%250, pid&0xff, 1+host-'A', 20001+r)
	}
	return addrs
}

// hostRanks returns ranks in this process on such hosts: those of one host share
// memory.
func hostRanks(t testing.TB, shape string, o thunder.Options) []*thunder.Comm {
	t.Helper()
	o.Join.Addrs, o.Transport.Fabric = hostAddrs(t, shape), "auto"
	return openRanks(t, len(shape), o)
}

// hostsCount is how many elements the ranks of hostsRole reduce.
const hostsCount = 1 << 20

// hostsRole performs every operation that has a host-first form, checks the results,
// and prints what it chose and how much it sent to other hosts in one all-reduce,
// host-first and around the ring.
func hostsRole() int {
	go func() { io.Copy(io.Discard, os.Stdin); os.Exit(9) }() // the test is gone
	ctx := context.Background()
	c, err := thunder.Init(ctx, thunder.Options{Join: thunder.Join{Addrs: strings.Split(os.Getenv("THUNDER_TEST_ADDRS"), ",")}, Transport: thunder.Transport{Fabric: os.Getenv("THUNDER_FABRIC")}})
	if err == nil {
		defer c.Close()
		err = hostFirst(ctx, c)
	}
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	return 0
}

func hostFirst(ctx context.Context, c *thunder.Comm) error {
	for _, algo := range []thunder.Algo{thunder.Auto, thunder.Hier} {
		if err := hostOperations(ctx, c, algo); err != nil {
			return fmt.Errorf("%v: %w", algo, err)
		}
	}
	// A group of the ranks in reverse order keeps its hosts.
	back, err := c.Split(ctx, 0, -c.Rank())
	if err != nil {
		return err
	}
	defer back.Close()
	if err := hostOperations(ctx, back, thunder.Auto); err != nil {
		return fmt.Errorf("split: %w", err)
	}
	var sent []uint64
	for _, algo := range []thunder.Algo{thunder.Auto, thunder.Ring} {
		before := crossed(c)
		if err := reduceOnHosts(ctx, c, algo); err != nil {
			return err
		}
		sent = append(sent, crossed(c)-before)
	}
	algo := c.Choice(thunder.KindAllReduce, thunder.Auto, thunder.I32, hostsCount).Algo
	fmt.Println(c.Fabric(), algo, sent[0], sent[1])
	return nil
}

// crossed is how many bytes this rank has sent to other hosts.
func crossed(c *thunder.Comm) uint64 {
	var n uint64
	for r := range c.Size() {
		if c.Host(r) != c.Host(c.Rank()) {
			n += c.TrafficTo(r).SentBytes
		}
	}
	return n
}

func reduceOnHosts(ctx context.Context, c *thunder.Comm, algo thunder.Algo) error {
	buf := make([]int32, hostsCount)
	for i := range buf {
		buf[i] = int32(i % 1000 * (c.Rank() + 1))
	}
	r := &thunder.Request{Kind: thunder.KindAllReduce, DType: thunder.I32, Op: thunder.Sum, Algo: algo, Recv: reduce.Bytes(buf)}
	if err := c.Do(ctx, r); err != nil {
		return err
	}
	all := c.Size() * (c.Size() + 1) / 2
	for i, v := range buf {
		if v != int32(i%1000*all) {
			return fmt.Errorf("allreduce: element %d is %d", i, v)
		}
	}
	return nil
}

// hostOperations checks the operations on a few elements, and on many.
func hostOperations(ctx context.Context, c *thunder.Comm, algo thunder.Algo) error {
	n, me := c.Size(), c.Rank()
	if err := reduceOnHosts(ctx, c, algo); err != nil {
		return err
	}
	for _, count := range []int{1, 1000, 200_000} {
		all, block := make([]int32, n*count), make([]int32, count)
		fill := func(s []int32, from int) {
			for i := range s {
				s[i] = int32((from + i) * (me + 1))
			}
		}
		sum := func(i int) int32 { return int32(i * n * (n + 1) / 2) }
		do := func(k thunder.Kind, send, recv []int32, root int, want func(i int) int32) error {
			r := &thunder.Request{Kind: k, DType: thunder.I32, Algo: algo, Root: root, Send: reduce.Bytes(send), Recv: reduce.Bytes(recv)}
			if k.Reduces() {
				r.Op = thunder.Sum
			}
			if err := c.Do(ctx, r); err != nil {
				return err
			}
			for i, v := range recv {
				if v != want(i) {
					return fmt.Errorf("%v of %d: element %d is %d, want %d", k, count, i, v, want(i))
				}
			}
			return nil
		}
		fill(all, 0)
		err := do(thunder.KindReduceScatter, all, block, 0, func(i int) int32 { return sum(me*count + i) })
		fill(block, 0)
		err = errors.Join(err, do(thunder.KindAllGather, block, all, 0, func(i int) int32 { return int32(i % count * (i/count + 1)) }))
		for root := range n {
			fill(block, 0)
			err = errors.Join(err, do(thunder.KindBroadcast, nil, block, root, func(i int) int32 { return int32(i * (root + 1)) }))
			fill(block, 0)
			err = errors.Join(err, do(thunder.KindReduce, nil, block, root, func(i int) int32 {
				if me == root {
					return sum(i)
				}
				return int32(i * (me + 1))
			}))
		}
		err = errors.Join(err, c.Do(ctx, &thunder.Request{Kind: thunder.KindBarrier, Algo: algo}))
		if err != nil {
			return err
		}
	}
	return nil
}

// TestHostFirst runs ranks in processes of their own, on hosts that are loopback
// addresses. Those of one host share memory, and what crosses between hosts is what it
// has to be, and less than around the ring.
func TestHostFirst(t *testing.T) {
	for _, tt := range []struct {
		shape string
		ring  float64 // vectors that cross between hosts in the ring
	}{
		{"AABB", 2 * 1.5}, {"ABAB", 4 * 1.5}, {"AAB", 2 * 4.0 / 3},
	} {
		t.Run(tt.shape, func(t *testing.T) {
			addrs := hostAddrs(t, tt.shape)
			ps := startRanks(t, len(tt.shape), "hosts", "THUNDER_TEST_ADDRS="+strings.Join(addrs, ","), "THUNDER_FABRIC=auto",
				"THUNDER_COORDINATOR=", "THUNDER_COORDINATOR_SERVED=")
			var hier, ring int
			for r, p := range ps {
				out, _ := io.ReadAll(p.out)
				var fabric, algo string
				var a, b int
				if _, err := fmt.Sscan(string(out), &fabric, &algo, &a, &b); err != nil || p.Wait() != nil {
					t.Fatalf("rank %d: %s", r, out)
				}
				alone := strings.Count(tt.shape, tt.shape[r:r+1]) == 1
				if want := "shm+tcp"; fabric != want && !alone || algo != "hier" {
					t.Errorf("rank %d chose %s over %s", r, algo, fabric)
				}
				hier, ring = hier+a, ring+b
			}
			t.Logf("%d bytes cross host-first, %d around the ring", hier, ring)
			if want := 2 * 4 * hostsCount; hier != want {
				t.Errorf("%d bytes cross between the hosts, want %d", hier, want)
			}
			if want := int(tt.ring * 4 * hostsCount); ring < want-64 || ring > want+64 {
				t.Errorf("%d bytes cross around the ring, want %d", ring, want)
			}
		})
	}
}

// TestHostsMoveOn reduces long vectors around a ring that goes from one host to the other
// and back: ranks post far more than a single TCP stream holds, and then wait in shared
// memory, or the other way round.
func TestHostsMoveOn(t *testing.T) {
	const count = 8 << 20
	for _, shape := range []string{"AAB", "AABB"} {
		t.Run(shape, func(t *testing.T) {
			o := thunder.Options{Timeout: time.Minute}
			o.Transport.Streams = 1
			comms := hostRanks(t, shape, o)
			each(t, len(comms), func(r int) error {
				buf := make([]int32, count)
				for i := range buf {
					buf[i] = int32(i)
				}
				for range 2 {
					err := comms[r].Do(t.Context(), &thunder.Request{Kind: thunder.KindAllReduce, DType: thunder.I32, Op: thunder.Max, Algo: thunder.Ring, Recv: reduce.Bytes(buf)})
					if err != nil {
						return err
					}
				}
				if buf[count-1] != count-1 || buf[77] != 77 {
					return fmt.Errorf("wrong result: %d, %d", buf[count-1], buf[77])
				}
				return nil
			})
		})
	}
}
