package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	thunder "thundercollective"
)

// TestTimeout has one rank stay away. Its peers say whom they waited for; it gets
// the same error when it comes at last, though what they had sent it by then may
// still be enough for the one that they gave up.
func TestTimeout(t *testing.T) {
	for name, ranks := range fabrics {
		t.Run(name, func(t *testing.T) {
			comms := ranks(t, 3, thunder.Options{Timeout: 1200 * time.Millisecond})
			each(t, 3, func(r int) error { return thunder.Barrier(t.Context(), comms[r]) })
			wantTimeout := func(r int) error {
				err := thunder.AllReduce(t.Context(), comms[r], make([]float32, 10), thunder.Sum)
				if r == 2 && err == nil {
					err = thunder.Barrier(t.Context(), comms[r])
				}
				var timeout *thunder.TimeoutError
				if !errors.As(err, &timeout) {
					return fmt.Errorf("got %v, want a TimeoutError", err)
				}
				if timeout.Rank == comms[r].Rank() && !strings.Contains(err.Error(), "rank 2 has not arrived, its last was barrier, #1") {
					return fmt.Errorf("the error does not say who is missing: %v", err)
				}
				return nil
			}
			each(t, 2, wantTimeout)
			if err := wantTimeout(2); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFirstTimeout has one rank stay away from the first operation: the others name that
// one, and not each other. What they record says that they are in it.
func TestFirstTimeout(t *testing.T) {
	for name, ranks := range fabrics {
		t.Run(name, func(t *testing.T) {
			comms := ranks(t, 3, thunder.Options{Timeout: 1700 * time.Millisecond})
			each(t, 2, func(r int) error {
				w := thunder.AllReduceAsync(t.Context(), comms[r], make([]float32, 10), thunder.Sum)
				time.Sleep(time.Second)
				var dump bytes.Buffer
				if err := comms[r].Dump(&dump); err != nil {
					return err
				}
				if !strings.Contains(dump.String(), `"running"`) {
					return fmt.Errorf("the operation under way is not recorded:\n%s", &dump)
				}
				err := w.Wait()
				if _, ok := errors.AsType[*thunder.TimeoutError](err); !ok {
					return fmt.Errorf("got %v, want a TimeoutError", err)
				}
				if text := err.Error(); !strings.Contains(text, "rank 2 has not called anything") || strings.Contains(text, "rank 0 has") || strings.Contains(text, "rank 1 has") {
					return fmt.Errorf("the error blames others than rank 2: %v", err)
				}
				return nil
			})
		})
	}
}

func TestDeadlineOfContext(t *testing.T) {
	comms := memRanks(t, 2, thunder.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := thunder.Barrier(ctx, comms[0])
	var timeout *thunder.TimeoutError
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("got %v, want a TimeoutError", err)
	}
}

// TestCancel ends the operation of the rank that cancels and of all others.
func TestCancel(t *testing.T) {
	for name, ranks := range fabrics {
		t.Run(name, func(t *testing.T) {
			comms := ranks(t, 3, thunder.Options{})
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("enough")
			each(t, 3, func(r int) error {
				var err error
				switch r {
				case 0:
					w := thunder.AllReduceAsync(ctx, comms[0], make([]float32, 1<<20), thunder.Sum)
					cancel(why)
					if err = w.Wait(); !errors.Is(err, why) {
						return fmt.Errorf("got %v, want the cause", err)
					}
				case 1:
					err = thunder.AllReduce(t.Context(), comms[1], make([]float32, 1<<20), thunder.Sum)
				case 2:
					<-ctx.Done() // never joins
					for err == nil {
						err = comms[2].Err()
					}
				}
				var abort *thunder.AbortError
				if !errors.As(err, &abort) || abort.Rank != 0 {
					return fmt.Errorf("got %v, want the AbortError of rank 0", err)
				}
				return nil
			})
		})
	}
}

func TestAbort(t *testing.T) {
	comms := memRanks(t, 3, thunder.Options{})
	each(t, 3, func(r int) error {
		if r == 0 {
			comms[0].Abort("the data is bad")
		}
		err := thunder.Barrier(t.Context(), comms[r])
		var abort *thunder.AbortError
		if !errors.As(err, &abort) || abort.Rank != 0 || !strings.Contains(err.Error(), "the data is bad") {
			return fmt.Errorf("got %v, want rank 0's reason", err)
		}
		return nil
	})
}

// TestLeaving has a rank close in good order while others still want it. Only then
// is it an error.
func TestLeaving(t *testing.T) {
	for name, ranks := range fabrics {
		t.Run(name, func(t *testing.T) {
			comms := ranks(t, 3, thunder.Options{})
			var exchanged sync.WaitGroup // the barrier's failure ends what is under way
			exchanged.Add(2)
			each(t, 3, func(r int) error {
				if err := thunder.Barrier(t.Context(), comms[r]); err != nil {
					return err
				}
				if r == 2 {
					return comms[2].Close()
				}
				// Point-to-point between those that stay goes on.
				got := make([]int64, 1)
				if err := thunder.SendRecv(t.Context(), comms[r], []int64{7}, 1-r, got, 1-r); err != nil {
					return err
				}
				exchanged.Done()
				exchanged.Wait()
				err := thunder.Barrier(t.Context(), comms[r])
				var lost *thunder.PeerLostError
				if !errors.As(err, &lost) || lost.Rank != 2 {
					return fmt.Errorf("got %v, want rank 2 lost", err)
				}
				return nil
			})
		})
	}
}

func TestClosed(t *testing.T) {
	comms := memRanks(t, 2, thunder.Options{})
	w := thunder.BarrierAsync(t.Context(), comms[0]) // blocked: rank 1 never comes
	if err := comms[0].Close(); err != nil {
		t.Fatal(err)
	}
	var closed *thunder.ClosedError
	for what, err := range map[string]error{
		"blocked": w.Wait(),
		"later":   thunder.Barrier(t.Context(), comms[0]),
		"send":    thunder.Send(t.Context(), comms[0], []int8{1}, 1),
	} {
		if !errors.As(err, &closed) {
			t.Errorf("%s: got %v, want a ClosedError", what, err)
		}
	}
	if err := comms[0].Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}
