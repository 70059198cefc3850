package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"unsafe"

	thunder "thundercollective"
)

// A poolCase is an operation that ranks can do in each other's memory. Element i of the
// input of rank r is input(r, i); lengths are in elements.
type poolCase struct {
	kind       thunder.Kind
	send, recv func(n, count int) int
	want       func(rank, n, count, i int) int32
}

func input(r, i int) int32 { return int32(r*1_000_003 + i) }

const poolRoot = 1

var poolCases = []poolCase{
	{thunder.KindAllReduce, one, one, func(_, n, _, i int) int32 { return sumOf(n, i) }},
	{thunder.KindReduceScatter, each1, one, func(r, n, count, i int) int32 { return sumOf(n, r*count+i) }},
	{thunder.KindAllGather, one, each1, func(_, _, count, i int) int32 { return input(i/count, i%count) }},
	{thunder.KindAllToAll, each1, each1, func(r, _, count, i int) int32 { return input(i/count, r*count+i%count) }},
	{thunder.KindScatter, each1, one, func(r, _, count, i int) int32 { return input(poolRoot, r*count+i) }},
	{thunder.KindGather, one, each1, func(_, _, count, i int) int32 { return input(i/count, i%count) }},
	{thunder.KindBroadcast, nil, one, func(_, _, _, i int) int32 { return input(poolRoot, i) }},
}

func one(_, count int) int   { return count }
func each1(n, count int) int { return n * count }

func sumOf(n, i int) (s int32) {
	for r := range n {
		s += input(r, i)
	}
	return s
}

// TestPool does operations in ordinary memory, in that of Alloc, and in both, short ones
// and long ones, and checks the results, and that nothing but a few words is sent when
// the group says that it does without.
func TestPool(t *testing.T) {
	for _, private := range []bool{false, true} {
		for _, n := range []int{2, 3, 5} {
			if private && n == 5 {
				continue
			}
			comms := shmRanks(t, n, thunder.Options{Transport: thunder.Transport{NoPeerReads: private}})
			each(t, n, func(r int) error { return thunder.Barrier(context.Background(), comms[r]) })
			for _, tt := range poolCases {
				for _, count := range []int{1000, 8192, 40_001, 1<<20 + 3} {
					for memory, alloc := range map[string]func(rank int) bool{
						"ordinary": func(int) bool { return false },
						"alloc":    func(int) bool { return true },
						"mixed":    func(r int) bool { return r%2 == 1 },
					} {
						if count > 1<<20 && n > 2 {
							continue // it makes no more difference
						}
						choice := comms[0].Choice(tt.kind, thunder.Auto, thunder.I32, count)
						path := choice.Path
						if memory == "alloc" {
							path = choice.PathAlloc
						}
						shared := path == thunder.PathShared
						if private && choice.Path == thunder.PathShared {
							t.Errorf("%v of %d elements is done in memory that nobody may read", tt.kind, count)
						}
						each(t, n, func(r int) error {
							if err := tt.do(comms[r], count, alloc(r), shared); err != nil {
								return fmt.Errorf("%d ranks, private %v, %s memory: %v of %d: %w", n, private, memory, tt.kind, count, err)
							}
							return nil
						})
					}
				}
			}
		}
	}
}

// do performs the operation, twice, on one rank.
func (p *poolCase) do(c *thunder.Comm, count int, alloc, shared bool) error {
	n, isRoot := c.Size(), c.Rank() == poolRoot
	var lengths [2]int
	if p.send != nil && (p.kind != thunder.KindScatter || isRoot) {
		lengths[0] = p.send(n, count)
	}
	if p.kind != thunder.KindGather || isRoot {
		lengths[1] = p.recv(n, count)
	}
	var mem [2][]byte
	for i, words := range lengths {
		switch {
		case words == 0:
		case alloc:
			b, err := c.Alloc(4 * words)
			if err != nil {
				return err
			}
			defer c.Free(b)
			mem[i] = b
		default:
			mem[i] = make([]byte, 4*words)
		}
	}
	send, recv := words(mem[0]), words(mem[1])
	for i := range send {
		send[i] = input(c.Rank(), i)
	}
	for range 2 {
		clear(recv)
		if p.kind == thunder.KindBroadcast && isRoot {
			for i := range recv {
				recv[i] = input(poolRoot, i)
			}
		}
		before := sentToAll(c)
		r := &thunder.Request{Kind: p.kind, DType: thunder.I32, Op: thunder.Sum, Root: poolRoot, Send: mem[0], Recv: mem[1]}
		if !p.kind.Rooted() {
			r.Root = 0
		}
		if err := c.Do(context.Background(), r); err != nil {
			return err
		}
		// The group's own links are counted: heartbeats do not come between.
		switch sent := sentToAll(c) - before; {
		case shared && sent > uint64(64*n):
			return fmt.Errorf("%d bytes were sent", sent)
		case !shared && p.kind == thunder.KindAllReduce && sent == 0:
			return errors.New("nothing was sent, or nothing is counted")
		}
		for i, got := range recv {
			if want := p.want(c.Rank(), n, count, i); got != want {
				return fmt.Errorf("element %d is %d, want %d", i, got, want)
			}
		}
		for i, got := range send {
			if got != input(c.Rank(), i) {
				return fmt.Errorf("element %d of the input has become %d", i, got)
			}
		}
	}
	return nil
}

func words(b []byte) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// TestPoolAllocations: nothing is allocated to read each other's memory.
func TestPoolAllocations(t *testing.T) {
	var other [2][]float32
	for r := range other {
		other[r] = make([]float32, 2<<20)
	}
	for name, do := range map[string]func(ctx context.Context, c *thunder.Comm, buf []float32) error{
		"allreduce": func(ctx context.Context, c *thunder.Comm, buf []float32) error {
			return thunder.AllReduce(ctx, c, buf, thunder.Sum)
		},
		"allgather": func(ctx context.Context, c *thunder.Comm, buf []float32) error {
			return thunder.AllGather(ctx, c, other[c.Rank()], buf)
		},
		"reducescatter": func(ctx context.Context, c *thunder.Comm, buf []float32) error {
			return thunder.ReduceScatter(ctx, c, other[c.Rank()][:len(buf)/2], buf, thunder.Sum)
		},
	} {
		t.Run(name, func(t *testing.T) { countAllocations(t, shmRanks, 1<<20, do) })
	}
}
