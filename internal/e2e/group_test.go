package e2e_test

import (
	"errors"
	"fmt"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/leaks"
)

// TestSplit makes rows and columns of a 2 × 3 grid, and reverses their order.
func TestSplit(t *testing.T) {
	for name, ranks := range fabrics {
		t.Run(name, func(t *testing.T) {
			leaks.Check(t)
			comms := ranks(t, 6, thunder.Options{})
			each(t, 6, func(r int) error {
				row, err := comms[r].Split(t.Context(), r/3, -r)
				if err != nil {
					return err
				}
				if row.Size() != 3 || row.Rank() != 2-r%3 {
					return fmt.Errorf("row: rank %d of %d", row.Rank(), row.Size())
				}
				column, err := comms[r].Split(t.Context(), r%3, 0)
				if err != nil {
					return err
				}
				sum := []int32{int32(r)}
				if err := thunder.AllReduce(t.Context(), row, sum, thunder.Sum); err != nil {
					return err
				}
				if want := int32(3 + 9*(r/3)); sum[0] != want {
					return fmt.Errorf("row: sum %d, want %d", sum[0], want)
				}
				sum[0] = int32(r)
				if err := thunder.AllReduce(t.Context(), column, sum, thunder.Sum); err != nil {
					return err
				}
				if want := int32(2*(r%3) + 3); sum[0] != want {
					return fmt.Errorf("column: sum %d, want %d", sum[0], want)
				}
				if err := row.Close(); err != nil {
					return err
				}
				return thunder.Barrier(t.Context(), column)
			})
		})
	}
}

func TestSplitWithoutColor(t *testing.T) {
	comms := memRanks(t, 3, thunder.Options{})
	each(t, 3, func(r int) error {
		color := 0
		if r == 1 {
			color = -1
		}
		g, err := comms[r].Split(t.Context(), color, 0)
		if err != nil {
			return err
		}
		if r == 1 {
			if g != nil {
				return fmt.Errorf("a rank without color got a group")
			}
			return nil
		}
		return thunder.Barrier(t.Context(), g)
	})
}

// TestGroupsAreIndependent blocks one group and works in another of the same ranks.
func TestGroupsAreIndependent(t *testing.T) {
	for name, ranks := range fabrics {
		t.Run(name, func(t *testing.T) {
			comms := ranks(t, 2, thunder.Options{})
			each(t, 2, func(r int) error {
				other, err := comms[r].Split(t.Context(), 0, 0)
				if err != nil {
					return err
				}
				var blocked *thunder.Work
				big := make([]float32, 1<<20)
				if r == 0 {
					blocked = thunder.AllReduceAsync(t.Context(), comms[0], big, thunder.Sum)
				}
				for range 20 {
					if err := thunder.AllReduce(t.Context(), other, make([]float32, 1000), thunder.Sum); err != nil {
						return err
					}
				}
				if r == 1 { // only now does rank 1 join the first one
					return thunder.AllReduce(t.Context(), comms[1], big, thunder.Sum)
				}
				return blocked.Wait()
			})
		})
	}
}

// TestAsync issues many operations and waits for them in reverse.
func TestAsync(t *testing.T) {
	for name, ranks := range fabrics {
		t.Run(name, func(t *testing.T) {
			const n, ops = 3, 50
			comms := ranks(t, n, thunder.Options{})
			each(t, n, func(r int) error {
				bufs, works := [ops][]int64{}, [ops]*thunder.Work{}
				for i := range works {
					bufs[i] = []int64{int64(r), int64(i)}
					works[i] = thunder.AllReduceAsync(t.Context(), comms[r], bufs[i], thunder.Sum)
				}
				for i := ops - 1; i >= 0; i-- {
					if err := works[i].Wait(); err != nil {
						return err
					}
					if bufs[i][0] != 3 || bufs[i][1] != int64(3*i) {
						return fmt.Errorf("operation %d: %v", i, bufs[i])
					}
				}
				return nil
			})
		})
	}
}

// TestMessagesBothWays has every rank receive before it sends, asynchronously, from
// everybody, with messages that no buffer holds.
func TestMessagesBothWays(t *testing.T) {
	for name, ranks := range fabrics {
		t.Run(name, func(t *testing.T) {
			const n, count = 3, 500_000
			comms := ranks(t, n, thunder.Options{})
			each(t, n, func(r int) error {
				var works []*thunder.Work
				in := make([][]float32, n)
				for q := range n {
					if q != r {
						in[q] = make([]float32, count)
						works = append(works, thunder.RecvAsync(t.Context(), comms[r], in[q], q))
					}
				}
				for q := range n {
					if q != r {
						works = append(works, thunder.SendAsync(t.Context(), comms[r], vector(r, count), q))
					}
				}
				if err := thunder.Barrier(t.Context(), comms[r]); err != nil { // beside them
					return err
				}
				for _, w := range works {
					if err := w.Wait(); err != nil {
						return err
					}
				}
				for q := range n {
					if q != r {
						if err := same("message", in[q][count-5:], vector(q, count)[count-5:]); err != nil {
							return err
						}
					}
				}
				return nil
			})
		})
	}
}

// TestClosedTooSoon has a rank close a group that the others still need: they hear
// which one it was, and the rest of the job goes on.
func TestClosedTooSoon(t *testing.T) {
	for name, ranks := range fabrics {
		t.Run(name, func(t *testing.T) {
			leaks.Check(t)
			comms := ranks(t, 3, thunder.Options{})
			each(t, 3, func(r int) error {
				g, err := comms[r].Split(t.Context(), 0, 0)
				if err != nil {
					return err
				}
				if err := thunder.Barrier(t.Context(), g); err != nil {
					return err
				}
				if r == 1 {
					g.Close()
				} else {
					var lost *thunder.PeerLostError
					err := thunder.AllReduce(t.Context(), g, []int32{1}, thunder.Sum)
					if !errors.As(err, &lost) || lost.Rank != 1 || !lost.Left {
						return fmt.Errorf("got %v, want that rank 1 left the group", err)
					}
				}
				return thunder.Barrier(t.Context(), comms[r])
			})
		})
	}
}
