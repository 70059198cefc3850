package fabrictest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"thundercollective/fabric"
)

// testBacklog has three ranks exchange far more than their paths hold, each from a
// single goroutine that posts everything before it receives: what was posted has to
// move on while the poster waits for something else. Buffers come back in order.
func testBacklog(t *testing.T, h Harness) {
	const n, rounds = 3, 4
	fs := start(t, h, n)
	defer closeAll(t, fs)
	links := make([][]fabric.Link, n)
	for r := range links {
		links[r] = make([]fabric.Link, n)
	}
	for a := range n {
		for b := a + 1; b < n; b++ {
			links[a][b], links[b][a] = join(t, fs[a], fs[b], 1)
		}
	}
	if _, ok := links[0][1].(fabric.Backlog); !ok {
		t.Skip("provider has no Backlog")
	}
	sizes := []int{h.Large / 2, 8, 300_000, 0, 40_000}
	var wg sync.WaitGroup
	for r := range n {
		wg.Go(func() {
			for round := range rounds {
				if err := exchangeAll(links[r], r, round, sizes); err != nil {
					t.Errorf("rank %d, round %d: %v", r, round, err)
					for _, l := range links[r] {
						if l != nil {
							l.Close()
						}
					}
					return
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
			if _, err := l.(fabric.Backlog).Post(tagOf(seed(rank, peer, i)), b); err != nil {
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
			if err := l.(fabric.Backlog).Await(ctx, len(sizes)-1-i); err != nil {
				return fmt.Errorf("await %d to %d: %w", i, peer, err)
			}
			clear(posted[peer][i]) // ours again
		}
	}
	return nil
}
