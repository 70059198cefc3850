package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/leaks"
)

// value is what rank r contributes at place i: small integers, exact in float32.
func value(r, i int) float32 { return float32((r*7 + i*3) % 11) }

func vector(r, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = value(r, i)
	}
	return v
}

// combined is the reduction of all ranks' vectors.
func combined(ranks, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		for r := range ranks {
			v[i] += value(r, i)
		}
	}
	return v
}

func same(what string, got, want []float32) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s: got %v, want %v", what, got, want)
	}
	return nil
}

// TestOperations runs every operation on every number of ranks and compares with
// what can be computed at one place.
func TestOperations(t *testing.T) {
	for name, ranks := range fabrics {
		for _, n := range []int{1, 2, 3, 4, 5, 9} {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				leaks.Check(t)
				comms := ranks(t, n, thunder.Options{})
				for _, count := range []int{0, 1, 5, 1000} {
					each(t, n, func(r int) error { return everyOperation(t.Context(), comms[r], count) })
				}
			})
		}
	}
}

// everyOperation calls each one once, with every root, and checks the results.
func everyOperation(ctx context.Context, c *thunder.Comm, count int) error {
	n, r := c.Size(), c.Rank()
	whole := func(r int) []float32 { return vector(r, n*count) }
	gathered := make([]float32, 0, n*count)
	for q := range n {
		gathered = append(gathered, vector(q, count)...)
	}
	part := func(v []float32, q int) []float32 { return v[q*count : (q+1)*count] }

	buf := vector(r, count)
	if err := thunder.AllReduce(ctx, c, buf, thunder.Sum); err != nil {
		return err
	}
	if err := same("allreduce", buf, combined(n, count)); err != nil {
		return err
	}
	dst := make([]float32, count)
	if err := thunder.ReduceScatter(ctx, c, dst, whole(r), thunder.Sum); err != nil {
		return err
	}
	if err := same("reducescatter", dst, part(combined(n, n*count), r)); err != nil {
		return err
	}
	all := make([]float32, n*count)
	if err := thunder.AllGather(ctx, c, all, vector(r, count)); err != nil {
		return err
	}
	if err := same("allgather", all, gathered); err != nil {
		return err
	}
	clear(all)
	if err := thunder.AllToAll(ctx, c, all, whole(r)); err != nil {
		return err
	}
	for q := range n {
		if err := same("alltoall", part(all, q), part(whole(q), r)); err != nil {
			return err
		}
	}
	for root := range n {
		if err := rootedOperations(ctx, c, root, count, gathered); err != nil {
			return fmt.Errorf("root %d: %w", root, err)
		}
	}
	right, left := (r+1)%n, (r+n-1)%n
	got := make([]float32, count)
	if err := thunder.SendRecv(ctx, c, vector(r, count), right, got, left); err != nil {
		return err
	}
	if err := same("sendrecv", got, vector(left, count)); err != nil {
		return err
	}
	return thunder.Barrier(ctx, c)
}

func rootedOperations(ctx context.Context, c *thunder.Comm, root, count int, gathered []float32) error {
	n, r := c.Size(), c.Rank()
	buf := vector(r, count)
	if err := thunder.Broadcast(ctx, c, buf, root); err != nil {
		return err
	}
	if err := same("broadcast", buf, vector(root, count)); err != nil {
		return err
	}
	buf = vector(r, count)
	if err := thunder.Reduce(ctx, c, buf, thunder.Sum, root); err != nil {
		return err
	}
	want := vector(r, count)
	if r == root {
		want = combined(n, count)
	}
	if err := same("reduce", buf, want); err != nil {
		return err
	}
	var dst []float32
	if r == root {
		dst = make([]float32, n*count)
	}
	if err := thunder.Gather(ctx, c, dst, vector(r, count), root); err != nil {
		return err
	}
	if r == root {
		if err := same("gather", dst, gathered); err != nil {
			return err
		}
	}
	var src []float32
	if r == root {
		src = gathered
	}
	got := make([]float32, count)
	if err := thunder.Scatter(ctx, c, got, src, root); err != nil {
		return err
	}
	return same("scatter", got, vector(r, count))
}

// TestVaryingCounts runs the v-forms: rank r has r+1 elements, or none.
func TestVaryingCounts(t *testing.T) {
	for name, ranks := range fabrics {
		for _, n := range []int{1, 2, 4, 5} {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				comms := ranks(t, n, thunder.Options{})
				each(t, n, func(r int) error { return varyingOperations(t.Context(), comms[r]) })
			})
		}
	}
}

func varyingOperations(ctx context.Context, c *thunder.Comm) error {
	n, r := c.Size(), c.Rank()
	counts := make([]int, n)
	var gathered []float32
	for q := range n {
		if q != 1 {
			counts[q] = q + 1
		}
		gathered = append(gathered, vector(q, counts[q])...)
	}
	all := make([]float32, len(gathered))
	if err := thunder.AllGatherV(ctx, c, all, vector(r, counts[r]), counts); err != nil {
		return err
	}
	if err := same("allgatherv", all, gathered); err != nil {
		return err
	}
	root := n - 1
	var dst, src []float32
	var known []int
	if r == root {
		dst, src, known = make([]float32, len(gathered)), gathered, counts
	}
	if err := thunder.GatherV(ctx, c, dst, vector(r, counts[r]), known, root); err != nil {
		return err
	}
	if r == root {
		if err := same("gatherv", dst, gathered); err != nil {
			return err
		}
	}
	got := make([]float32, counts[r])
	if err := thunder.ScatterV(ctx, c, got, src, known, root); err != nil {
		return err
	}
	if err := same("scatterv", got, vector(r, counts[r])); err != nil {
		return err
	}
	// Rank r sends r+q elements to rank q.
	sendCounts, total := make([]int, n), 0
	for q := range n {
		sendCounts[q] = r + q
		total += r + q
	}
	in := make([]float32, total)
	if err := thunder.AllToAllV(ctx, c, in, vector(r, total), sendCounts, sendCounts); err != nil {
		return err
	}
	at := 0
	for q := range n {
		start := 0 // of our part in rank q's vector
		for p := range r {
			start += q + p
		}
		if err := same("alltoallv", in[at:at+r+q], vector(q, 1000)[start:start+r+q]); err != nil {
			return err
		}
		at += r + q
	}
	return nil
}

// TestAlgorithms gives the same bits with every algorithm, on every rank, twice.
func TestAlgorithms(t *testing.T) {
	const n, count = 5, 3001
	for _, algo := range []thunder.Algo{thunder.Ring, thunder.BiRing, thunder.Direct, thunder.Doubling, thunder.HalvingDoubling, thunder.Tree} {
		t.Run(algo.String(), func(t *testing.T) {
			comms := memRanks(t, n, thunder.Options{Tuning: thunder.Tuning{Algo: algo}})
			results := [2][n][]float64{}
			for run := range results {
				each(t, n, func(r int) error {
					buf := make([]float64, count)
					for i := range buf {
						buf[i] = 1 / float64(1+r+i) // sums depend on the order
					}
					results[run][r] = buf
					return thunder.AllReduce(t.Context(), comms[r], buf, thunder.Avg)
				})
			}
			for run := range results {
				for r := range n {
					if !slices.Equal(results[run][r], results[0][0]) {
						t.Errorf("run %d, rank %d differs from run 0, rank 0", run, r)
					}
				}
			}
		})
	}
}

func TestAlgorithmThatDoesNotExist(t *testing.T) {
	comms := memRanks(t, 2, thunder.Options{})
	err := comms[0].Do(t.Context(), &thunder.Request{Kind: thunder.KindBarrier, Algo: thunder.Ring})
	if err == nil {
		t.Error("a ring barrier: no error")
	}
}

// TestRequestErrors are mistakes that a rank can see by itself.
func TestRequestErrors(t *testing.T) {
	comms := memRanks(t, 3, thunder.Options{})
	c, ctx := comms[0], t.Context()
	f := func(n int) []float32 { return make([]float32, n) }
	for name, err := range map[string]error{
		"root":          thunder.Broadcast(ctx, c, f(1), 3),
		"negative root": thunder.Broadcast(ctx, c, f(1), -1),
		"gather":        thunder.Gather(ctx, c, f(5), f(2), 0),
		"allgather":     thunder.AllGather(ctx, c, f(5), f(2)),
		"scatter":       thunder.Scatter(ctx, c, f(2), f(5), 0),
		"reducescatter": thunder.ReduceScatter(ctx, c, f(2), f(5), thunder.Sum),
		"alltoall":      thunder.AllToAll(ctx, c, f(5), f(5)),
		"counts":        thunder.AllGatherV(ctx, c, f(5), f(2), []int{2, 3}),
		"own count":     thunder.AllGatherV(ctx, c, f(6), f(2), []int{1, 2, 3}),
		"bool avg":      thunder.AllReduce(ctx, c, []bool{true}, thunder.Avg),
		"float xor":     thunder.AllReduce(ctx, c, f(1), thunder.Xor),
		"to itself":     thunder.Send(ctx, c, f(1), 0),
		"from nobody":   thunder.Recv(ctx, c, f(1), 7),
		"half elements": c.Do(ctx, &thunder.Request{Kind: thunder.KindAllReduce, DType: thunder.F32, Op: thunder.Sum, Recv: make([]byte, 6)}),
		"no type":       c.Do(ctx, &thunder.Request{Kind: thunder.KindBroadcast}),
		"no operation":  c.Do(ctx, &thunder.Request{DType: thunder.F32}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// None of that has harmed the group.
	each(t, 3, func(r int) error { return thunder.Barrier(ctx, comms[r]) })
}
