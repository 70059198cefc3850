package sendqueue

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"thundercollective/fabric"
)

// A wire sends messages one by one, when it is allowed to.
type wire struct {
	allowed chan error // an error ends a message, nil sends it
	mu      sync.Mutex
	sent    []byte // the first byte of the tags
	begun   []bool
}

func (w *wire) send(ctx context.Context, m *Message) error {
	select {
	case err := <-w.allowed:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent, w.begun = append(w.sent, m.Tag[0]), append(w.begun, m.Begun)
	return nil
}

// queued returns a queue with n messages.
func queued(t *testing.T, n int) (*Queue, *wire) {
	t.Helper()
	w := &wire{allowed: make(chan error)}
	q := New(w.send)
	for i := range n {
		if err := q.Add(&fabric.Tag{byte(i)}, make([]byte, 8), i == 0); err != nil {
			t.Fatal(err)
		}
	}
	return q, w
}

// TestOrder: messages are sent in order by the goroutine, or by the caller of Await, and
// their buffers come back one by one.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, w := queued(t, 4)
		if idle, err := q.Idle(); idle || err != nil {
			t.Errorf("idle: %v, %v", idle, err)
		}
		w.allowed <- nil // the goroutine is at work
		synctest.Wait()
		if err := q.Await(t.Context(), 3); err != nil { // nothing to wait for
			t.Error(err)
		}
		done := make(chan error, 1)
		go func() { done <- q.Await(t.Context(), 1) }()
		w.allowed <- nil
		w.allowed <- nil
		if err := <-done; err != nil {
			t.Error(err)
		}
		w.allowed <- nil // the goroutine goes on
		synctest.Wait()
		if idle, err := q.Idle(); !idle || err != nil {
			t.Errorf("idle: %v, %v", idle, err)
		}
		if !slices.Equal(w.sent, []byte{0, 1, 2, 3}) || !slices.Equal(w.begun, []bool{true, false, false, false}) {
			t.Errorf("sent %v, begun %v", w.sent, w.begun)
		}
		q.Close()
	})
}

// TestError: an error of the wire ends the queue and gives all buffers back.
func TestError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, w := queued(t, 3)
		boom := errors.New("boom")
		w.allowed <- boom
		synctest.Wait()
		if err := q.Await(t.Context(), 0); !errors.Is(err, boom) {
			t.Errorf("got %v", err)
		}
		if idle, err := q.Idle(); !idle || !errors.Is(err, boom) {
			t.Errorf("idle: %v, %v", idle, err)
		}
		if err := q.Add(&fabric.Tag{}, nil, false); !errors.Is(err, boom) {
			t.Errorf("a message was added: %v", err)
		}
		q.Close()
	})
}

// TestCancel: the end of the context of Await, before or during it, ends what is being
// sent. The context of a call that is over does not.
func TestCancel(t *testing.T) {
	stop := errors.New("stop")
	for _, early := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			q, w := queued(t, 3)
			first, endFirst := context.WithCancelCause(t.Context())
			done := make(chan error, 1)
			go func() { done <- q.Await(first, 2) }()
			w.allowed <- nil
			if err := <-done; err != nil {
				t.Error(err)
			}
			endFirst(errors.New("too late"))
			synctest.Wait() // the goroutine sends the second one, and is not interrupted
			if _, err := q.Idle(); err != nil {
				t.Errorf("the queue has ended: %v", err)
			}
			ctx, end := context.WithCancelCause(t.Context())
			if early {
				end(stop)
			}
			go func() { done <- q.Await(ctx, 1) }()
			synctest.Wait()
			end(stop)
			if err := <-done; !errors.Is(err, stop) {
				t.Errorf("early %v: got %v, want the cause", early, err)
			}
			if err := q.Await(t.Context(), 0); !errors.Is(err, stop) {
				t.Errorf("early %v: afterwards: %v", early, err)
			}
			if len(w.sent) != 1 {
				t.Errorf("early %v: %d messages were sent", early, len(w.sent))
			}
			q.Close()
		})
	}
}

// TestClose: Close waits for the goroutine, whose send the link has ended, and a caller of
// Await returns when nothing uses its buffers any more.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, w := queued(t, 2)
		done := make(chan error, 1)
		go func() { done <- q.Await(t.Context(), 0) }()
		synctest.Wait()
		closed := make(chan struct{})
		go func() { q.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-done:
			t.Error("Await has returned while a message is being sent")
		default:
		}
		w.allowed <- fabric.ErrClosed // as a closed link does
		if err := <-done; !errors.Is(err, fabric.ErrClosed) {
			t.Errorf("got %v", err)
		}
		<-closed
		q.Close()
	})
}

// TestAllocations: in steady state a message costs none.
func TestAllocations(t *testing.T) {
	q := New(func(context.Context, *Message) error { return nil })
	defer q.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tag, buf := &fabric.Tag{}, make([]byte, 8)
	step := func() {
		for range 3 {
			if err := q.Add(tag, buf, false); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Await(ctx, 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		step()
	}
	if got := testing.AllocsPerRun(100, step); got != 0 {
		t.Errorf("%v allocations, want 0", got)
	}
}
