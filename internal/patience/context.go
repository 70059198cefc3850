package patience

import (
	"context"
	"sync"
	"time"
)

// shared is the clock of all contexts: a test may have many at the same time.
var shared struct {
	mu    sync.Mutex
	users int
	clock *Clock
}

func acquire() *Clock {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.users == 0 {
		shared.clock = Start()
	}
	shared.users++
	return shared.clock
}

func release() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.users--; shared.users == 0 {
		shared.clock.Stop()
	}
}

// Context returns a context that ends when this process and those that it started were
// given that much time. Nothing of it is left when the function it returns has.
func Context(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	clock := acquire()
	end := clock.Given() + limit
	var timer sync.WaitGroup
	timer.Go(func() {
		defer release()
		for left := limit; left > 0; left = end - clock.Given() {
			select {
			case <-time.After(left):
			case <-ctx.Done():
				return
			}
		}
		cancel(context.DeadlineExceeded)
	})
	return ctx, func() {
		cancel(context.Canceled)
		timer.Wait()
	}
}
