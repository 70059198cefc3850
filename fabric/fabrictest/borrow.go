package fabrictest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"thundercollective/fabric"
)

// lenders are both ends of a link that lends short messages.
func lenders(t *testing.T, h Harness) (fs []fabric.Fabric, ends [2]fabric.Link) {
	t.Helper()
	fs, ends[0], ends[1] = pair(t, h, 1)
	for r, l := range ends {
		if l.Borrow() < 0 {
			closeAll(t, fs)
			t.Fatalf("rank %d: the link lends nothing", r)
		}
	}
	return fs, ends
}

// testTake has both ends post a message and take the other's, between messages that are
// received otherwise, and one end run ahead so that messages lie one behind the other.
func testTake(t *testing.T, h Harness) {
	fs, ends := lenders(t, h)
	defer closeAll(t, fs)
	most := ends[0].Borrow()
	sizes := []int{0, 1, 8, 13, 1000, most - 1, most, 3 * most, 7}
	const rounds = 30
	within(t, "swaps", func() {
		together(t, 2, func(r int) error {
			for round := range rounds {
				for i, n := range sizes {
					if err := swapOnce(ends[r], r, (round*len(sizes)+i)*2, n, round%3 == 1); err != nil {
						return fmt.Errorf("round %d, %d bytes: %w", round, n, err)
					}
				}
			}
			return nil
		})
	})
	bytes := 0
	for _, n := range sizes {
		bytes += rounds * n
	}
	want := fabric.Traffic{
		SentMessages: rounds * uint64(len(sizes)), SentBytes: uint64(bytes),
		RecvMessages: rounds * uint64(len(sizes)), RecvBytes: uint64(bytes),
	}
	if got := ends[0].Traffic(); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

// swapOnce exchanges messages of n bytes, number i from rank 0 and i+1 from rank 1; in
// turns, rank 1 answering, if that is asked for.
func swapOnce(l fabric.Link, r, i, n int, turns bool) error {
	ctx := context.Background()
	b := make([]byte, n)
	fill(b, i+r)
	post := func() (bool, error) { return l.Post(tagOf(i+r), b) }
	gone := false
	var err error
	if !turns || r == 0 {
		if gone, err = post(); err != nil {
			return err
		}
	}
	if n > l.Borrow() {
		err = recvPieces(ctx, l, i+1-r, n)
	} else {
		var p []byte
		if p, err = l.Take(ctx, tagOf(i+1-r), n); err == nil {
			if at := uintptr(unsafe.Pointer(unsafe.SliceData(p))); n > 0 && at%fabric.PieceAlign != 0 {
				return fmt.Errorf("a message lies at %#x", at)
			}
			if len(p) != n {
				return fmt.Errorf("took %d bytes", len(p))
			}
			err = verify(i+1-r, 0, p)
		}
	}
	if err != nil {
		return err
	}
	if turns && r == 1 {
		if gone, err = post(); err != nil {
			return err
		}
	}
	if !gone {
		err = l.Await(ctx, 0)
	}
	clear(b) // ours again
	return err
}

// testTakeRefuses: a message that is not the expected one ends the receiving side.
func testTakeRefuses(t *testing.T, h Harness) {
	for _, tt := range []struct {
		name         string
		tag          int
		sent, wanted int
	}{
		{"tag", 2, 8, 8},
		{"shorter", 1, 8, 64},
		{"longer", 1, 64, 8},
		{"empty", 1, 0, 8},
		{"long", 1, 1 << 20, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fs, ends := lenders(t, h)
			defer closeAll(t, fs)
			ctx := context.Background()
			if _, err := ends[0].Post(tagOf(tt.tag), make([]byte, tt.sent)); err != nil {
				t.Fatal(err)
			}
			within(t, "a message that is not the one", func() {
				_, err := ends[1].Take(ctx, tagOf(1), tt.wanted)
				te, ok := errors.AsType[*fabric.TagError](err)
				if !ok || te.Peer != 0 || te.Got != *tagOf(tt.tag) || te.GotLen != uint64(tt.sent) || te.WantLen != uint64(tt.wanted) {
					t.Errorf("got %v, want a TagError", err)
				}
				if _, err := ends[1].Take(ctx, tagOf(1), tt.wanted); err == nil {
					t.Error("the link works on after a refused message")
				}
			})
		})
	}
}

// testTakeEnds: a Take that waits ends with its context, the link or the peer.
func testTakeEnds(t *testing.T, h Harness) {
	boom := errors.New("boom")
	for _, tt := range []struct {
		name string
		end  func(fs []fabric.Fabric, l fabric.Link, cancel context.CancelCauseFunc)
		want func(t *testing.T, err error)
	}{
		{"context", func(_ []fabric.Fabric, _ fabric.Link, cancel context.CancelCauseFunc) { cancel(boom) }, func(t *testing.T, err error) {
			if !errors.Is(err, boom) {
				t.Errorf("got %v, want the cause", err)
			}
		}},
		{"link", func(_ []fabric.Fabric, l fabric.Link, _ context.CancelCauseFunc) { l.Close() }, func(t *testing.T, err error) {
			if !errors.Is(err, fabric.ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		}},
		{"peer", func(fs []fabric.Fabric, _ fabric.Link, _ context.CancelCauseFunc) { h.Kill(fs[1]) }, func(t *testing.T, err error) {
			wantLost(t, err, 1)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fs, ends := lenders(t, h)
			defer closeAll(t, fs)
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			// One that has come, so that the next one is waited for.
			if _, err := ends[1].Post(tagOf(1), make([]byte, 8)); err != nil {
				t.Fatal(err)
			}
			first, got := make(chan error, 1), make(chan error, 1)
			go func() {
				_, err := ends[0].Take(ctx, tagOf(1), 8)
				first <- err
				_, err = ends[0].Take(ctx, tagOf(2), 8)
				got <- err
			}()
			within(t, "a message", func() {
				if err := <-first; err != nil {
					t.Error(err)
				}
			})
			tt.end(fs, ends[0], cancel)
			within(t, "a Take without a message", func() { tt.want(t, <-got) })
			if _, err := ends[0].Take(ctx, tagOf(2), 8); err == nil {
				t.Error("the link works on")
			}
		})
	}
}
