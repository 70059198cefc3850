package fabrictest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"thundercollective/fabric"
)

func testBacklog(t *testing.T, h Harness) {
	fs := start(t, h, 3)
	defer closeAll(t, fs)
	Backlog(t, fs, h.Large)
}

// Backlog has three ranks exchange far more than their paths hold, each from a single
// goroutine that posts everything before it receives: what was posted has to move on
// while the poster waits for something else. Buffers come back in order. It is a part of
// Run, for fabrics whose ranks are all reached in the same way; those that combine
// several ways call it with ranks of each. large is Harness.Large.
func Backlog(t *testing.T, fs []fabric.Fabric, large int) {
	const rounds = 4
	n := len(fs)
	links := make([][]fabric.Link, n)
	for r := range links {
		links[r] = make([]fabric.Link, n)
	}
	for a := range n {
		for b := a + 1; b < n; b++ {
			links[a][b], links[b][a] = join(t, fs[a], fs[b], 1)
		}
	}
	sizes := []int{large / 2, 8, 300_000, 0, 40_000}
	inTurns(t, links, func(r int) error {
		for round := range rounds {
			if err := exchangeAll(links[r], r, round, sizes); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		return nil
	})
	for i, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		inTurns(t, links, func(r int) error {
			if err := circle(links[r], r, order, 1000*(i+1), large); err != nil {
				return fmt.Errorf("order %v: %w", order, err)
			}
			return nil
		})
	}
}

// inTurns runs f for all ranks at once. A rank that fails closes its links, so that the
// others fail as well.
func inTurns(t *testing.T, links [][]fabric.Link, f func(r int) error) {
	t.Helper()
	var wg sync.WaitGroup
	for r := range links {
		wg.Go(func() {
			if err := f(r); err != nil {
				t.Errorf("rank %d: %v", r, err)
				for _, l := range links[r] {
					if l != nil {
						l.Close()
					}
				}
			}
		})
	}
	within(t, "exchange", wg.Wait)
}

// exchangeAll posts messages of all sizes to all peers, then receives theirs.
func exchangeAll(links []fabric.Link, rank, round int, sizes []int) error {
	ctx := context.Background()
	seed := func(from, to, i int) int { return ((from*8+to)*8+i)*8 + round }
	posted := make([][][]byte, len(links))
	for peer, l := range links {
		for i, n := range sizes {
			if l == nil {
				break
			}
			b := make([]byte, n)
			fill(b, seed(rank, peer, i))
			posted[peer] = append(posted[peer], b)
			if _, err := l.Post(tagOf(seed(rank, peer, i)), b); err != nil {
				return fmt.Errorf("post %d bytes to %d: %w", n, peer, err)
			}
		}
	}
	for i, n := range sizes {
		for peer, l := range links {
			if l == nil {
				continue
			}
			var err error
			if s := seed(peer, rank, i); i%2 == 0 {
				err = recvPieces(ctx, l, s, n)
			} else {
				err = recvWhole(ctx, l, s, make([]byte, n))
			}
			if err != nil {
				return fmt.Errorf("%d bytes from %d: %w", n, peer, err)
			}
		}
	}
	for peer, l := range links {
		for i := range posted[peer] {
			if err := l.Await(ctx, len(sizes)-1-i); err != nil {
				return fmt.Errorf("await %d to %d: %w", i, peer, err)
			}
			clear(posted[peer][i]) // ours again
		}
	}
	return nil
}

// circle has the first rank post a large message to the second and wait, on its other
// link, for what the third sends once the second has told it that the large one has come.
func circle(links []fabric.Link, rank int, order [3]int, seed, large int) error {
	ctx := context.Background()
	first, second, third := order[0], order[1], order[2]
	switch rank {
	case first:
		b := make([]byte, large)
		fill(b, seed)
		if _, err := links[second].Post(tagOf(seed), b); err != nil {
			return err
		}
		if err := recvWhole(ctx, links[third], seed+2, make([]byte, 8)); err != nil {
			return err
		}
		return links[second].Await(ctx, 0)
	case second:
		if err := recvPieces(ctx, links[first], seed, large); err != nil {
			return err
		}
		return sendFilled(ctx, links[third], seed+1)
	}
	if err := recvWhole(ctx, links[second], seed+1, make([]byte, 8)); err != nil {
		return err
	}
	return sendFilled(ctx, links[first], seed+2)
}

// sendFilled sends message i, of 8 bytes.
func sendFilled(ctx context.Context, l fabric.Link, i int) error {
	b := make([]byte, 8)
	fill(b, i)
	return fabric.Send(ctx, l, tagOf(i), b)
}
