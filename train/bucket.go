package train

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"thundercollective"
)

// A GradientBucket holds the gradients of a model in flat buckets, and combines each
// bucket with those of the other ranks as soon as it is complete. Several goroutines may
// call Ready at the same time; only one may call the other methods.
type GradientBucket struct {
	comm    *thunder.Comm // a group of its own
	layout  *layout
	buckets []*bucket

	ctx    context.Context // of the operations; ends with Close
	stop   context.CancelFunc
	queue  chan *bucket // complete, in the order of the layout
	worker sync.WaitGroup

	mu      sync.Mutex
	skip    bool
	ready   []bool // by tensor, in this pass
	missing []int  // by bucket: tensors not ready
	next    int    // first bucket that is not in the queue
	idle    *sync.Cond
	pending int // buckets in the queue or being combined
	err     error
	stats   Stats
}

// A bucket is a flat buffer of gradients.
type bucket struct {
	memory []byte // from Comm.Alloc
	values []float32
	codec  codec
}

// Stats holds the times spent on combining gradients.
type Stats struct {
	// Busy is the time in which buckets were being combined.
	Busy time.Duration
	// Exposed is the time in which Wait waited for that; the rest of Busy was hidden
	// behind the backward pass.
	Exposed time.Duration
	// Syncs is the number of passes that were combined.
	Syncs int
}

// Hidden returns the fraction of Busy that was hidden behind the backward pass.
func (s Stats) Hidden() float64 {
	if s.Busy <= 0 {
		return 0
	}
	return max(0, 1-s.Exposed.Seconds()/s.Busy.Seconds())
}

// NewGradientBucket returns a GradientBucket for tensors of the given lengths, in the
// order of the forward pass. All ranks of c must call it, with the same lengths and Config.
// The caller must call Close when done.
func NewGradientBucket(ctx context.Context, c *thunder.Comm, lens []int, cfg Config) (*GradientBucket, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	l, err := newLayout(lens, (cfg.BucketBytes+3)/4)
	if err != nil {
		return nil, err
	}
	group, err := c.Split(ctx, 0, c.Rank())
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	g := &GradientBucket{
		comm: group, layout: l, ready: make([]bool, len(lens)), missing: make([]int, len(l.buckets)),
		queue: make(chan *bucket, len(l.buckets)),
	}
	g.idle = sync.NewCond(&g.mu)
	g.ctx, g.stop = context.WithCancel(context.Background())
	for _, n := range l.buckets {
		b, err := newBucket(group, n, cfg)
		if err != nil {
			g.release()
			return nil, err
		}
		g.buckets = append(g.buckets, b)
	}
	g.begin()
	g.worker.Go(g.work)
	return g, nil
}

func newBucket(c *thunder.Comm, n int, cfg Config) (*bucket, error) {
	b := &bucket{codec: newCodec(c, n, cfg)}
	if n == 0 {
		return b, nil
	}
	var err error
	if b.memory, err = c.Alloc(4 * n); err != nil {
		return nil, fmt.Errorf("train: bucket of %d elements: %w", n, err)
	}
	b.values = unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b.memory))), n)
	return b, nil
}

// Len returns the number of tensors.
func (g *GradientBucket) Len() int { return len(g.layout.tensors) }

// Buckets returns the number of buckets.
func (g *GradientBucket) Buckets() int { return len(g.buckets) }

// Gradient returns the memory for the gradient of tensor i. The program may use it except
// between Ready and the end of Wait.
func (g *GradientBucket) Gradient(i int) []float32 {
	s := g.layout.tensors[i]
	return g.buckets[s.bucket].values[s.offset : s.offset+s.len : s.offset+s.len]
}

// Zero sets all gradients to zero, before a pass that adds to them.
func (g *GradientBucket) Zero() {
	for _, b := range g.buckets {
		clear(b.values)
	}
}

// SkipSync sets whether the following passes are not combined, so that the next pass can
// add to their gradients. Call it between Wait and the first Ready, with the same value on
// all ranks.
func (g *GradientBucket) SkipSync(skip bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.skip = skip
}

// Ready marks the gradient of tensor i as complete in this pass. After the last one of a
// bucket, the bucket is combined in the background; Ready does not wait for that. Calling
// it twice for a tensor in one pass is an error, which Wait returns.
func (g *GradientBucket) Ready(i int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ready[i] {
		g.err = errors.Join(g.err, fmt.Errorf("train: Ready(%d) was called twice in one pass", i))
		return
	}
	g.ready[i] = true
	g.missing[g.layout.tensors[i].bucket]--
	if g.skip || g.err != nil {
		return
	}
	// In order, because all ranks must combine the same bucket at the same time.
	for g.next < len(g.buckets) && g.missing[g.next] == 0 {
		g.pending++
		g.queue <- g.buckets[g.next] // does not block: it has room for all
		g.next++
	}
}

// Wait ends a pass. It returns when all buckets are combined and the program may use the
// gradients again. It is an error if Ready was not called for a gradient. If ctx ends
// first, the group fails on all ranks, as with any operation.
func (g *GradientBucket) Wait(ctx context.Context) error {
	aborted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(aborted)
		g.comm.Abort(context.Cause(ctx).Error())
	})
	defer func() {
		if !stop() { // the others must learn of it before the caller can close the group
			<-aborted
		}
	}()
	start := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.pending > 0 {
		g.idle.Wait()
	}
	if !g.skip {
		g.stats.Exposed += time.Since(start)
		g.stats.Syncs++
	}
	if g.err == nil {
		for i, ok := range g.ready {
			if !ok {
				g.err = fmt.Errorf("train: Ready(%d) was not called in this pass, so the ranks' gradients differ now", i)
				break
			}
		}
	}
	err := g.err
	g.begin()
	return err
}

// begin starts a pass.
func (g *GradientBucket) begin() {
	g.next = 0
	clear(g.ready)
	copy(g.missing, g.layout.members)
}

// work combines buckets one after the other, in one goroutine, so that the order of
// operations is the same on all ranks.
func (g *GradientBucket) work() {
	for b := range g.queue {
		start := time.Now()
		err := b.codec.combine(g.ctx, b.values)
		took := time.Since(start)
		g.mu.Lock()
		g.stats.Busy += took
		if err != nil && g.err == nil {
			g.err = fmt.Errorf("train: %w", err)
		}
		if g.pending--; g.pending == 0 {
			g.idle.Broadcast()
		}
		g.mu.Unlock()
	}
}

// Stats returns the times so far.
func (g *GradientBucket) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stats
}

// Close releases the buckets. The program must not use their memory afterwards.
func (g *GradientBucket) Close() error {
	close(g.queue)
	g.stop() // cancels operations still running; there are none after Wait
	g.worker.Wait()
	return g.release()
}

func (g *GradientBucket) release() error {
	g.stop()
	var errs []error
	for _, b := range g.buckets {
		if b.memory != nil {
			errs = append(errs, g.comm.Free(b.memory))
		}
	}
	errs = append(errs, g.comm.Close())
	return errors.Join(errs...)
}
