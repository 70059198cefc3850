package patience

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestGiven(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name string
		d    time.Duration
		u    usage
		want time.Duration
	}{
		{"idle", s, usage{}, s},
		{"busy", s, usage{run: s}, s},
		{"several threads", s, usage{run: 4 * s}, s},
		{"kept waiting", s, usage{wait: s}, 0},
		{"half of a processor", s, usage{run: s / 2, wait: s / 2}, s / 2},
		{"a moment's delay", s, usage{run: s / 10, wait: s / 10}, s - s/10},
		{"four threads on one processor", s, usage{run: s, wait: 3 * s}, s / 4},
		{"a quarter of two processors", s, usage{run: s / 2, wait: 3 * s / 2}, s / 4},
	} {
		if got := given(tt.d, tt.u); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestClock has more threads work than there are processors: less than the time on the
// wall is given, but some.
func TestClock(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3 * runtime.NumCPU()))
	begun := time.Now()
	c := Start()
	var stop atomic.Bool
	var busy sync.WaitGroup
	for range 3 * runtime.NumCPU() {
		busy.Go(func() {
			for !stop.Load() {
			}
		})
	}
	time.Sleep(10 * sampleEvery)
	got := c.Given()
	took := time.Since(begun)
	stop.Store(true)
	busy.Wait()
	c.Stop()
	t.Logf("%v of %v were given", got, took)
	if got <= 0 || got > took {
		t.Errorf("%v of %v were given", got, took)
	}
	if len(c.threads) > 0 && got > took*3/4 {
		t.Errorf("%v of %v were given to three threads per processor", got, took)
	}
}

// TestContext: what hangs is given its time, and comes to an end.
func TestContext(t *testing.T) {
	begun := time.Now()
	ctx, cancel := Context(t.Context(), 100*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	if took := time.Since(begun); took < 100*time.Millisecond || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		t.Errorf("after %v: %v", took, context.Cause(ctx))
	}
	ctx, cancel = Context(t.Context(), time.Hour)
	cancel()
	<-ctx.Done()
}
