package thunder

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/hugepages"
	"thundercollective/internal/recorder"
)

// A Comm is a group of ranks that communicate: all of them (Init, Local), or some
// (Split). It is safe for concurrent use. Collective operations run one after the
// other in the order of the calls, which must be the same on all ranks; sends to a
// peer, and receives from one, each keep their own order beside them. Operations
// of different Comms do not wait for each other.
//
// After an error of an operation the group is of no more use: every later call
// returns the same error, here and at the other ranks.
type Comm struct {
	job   *job
	id    uint32
	ranks []int // rank in the job, by rank in this group
	rank  int   // this process

	ctx  context.Context // of all operations; ends with the failure as its cause
	stop context.CancelCauseFunc

	turn    queue
	splits  atomic.Uint32 // Split calls so far
	planner *collective.Planner
	planned [KindSendRecv + 1]planned // last, by kind, under turn
	exec    *collective.Executor
	tag     fabric.Tag // of the operation, under turn
	counted bool       // the census was taken, under turn
	pages   hugepages.Adviser
	cables  *collective.Cables // nil if all ranks are joined alike
	hosts   *collective.Hosts
	model   *Model // what algorithms are chosen by, under turn; nil for rules of thumb
	paths   paths  // links of collectives
	direct  paths  // links of point-to-point messages
	current activity
	meter   meter  // under turn
	pairs   []pair // point-to-point state, by rank in this group

	failed  atomic.Bool // failure is set
	mu      sync.Mutex
	failure error
}

// newComm makes the group; ranks are ranks of the job.
func newComm(j *job, id uint32, ranks []int, rank int) *Comm {
	c := &Comm{job: j, id: id, ranks: ranks, rank: rank, pairs: make([]pair, len(ranks))}
	c.cables, c.hosts = j.cables(ranks), j.hostsOf(ranks)
	c.ctx, c.stop = context.WithCancelCause(context.Background())
	size := rememberedSmall
	if id == worldID {
		size = remembered
	}
	c.current.past.Store(recorder.NewRing(size))
	c.pages.Off = j.smallPages
	for r := range c.pairs {
		p := &c.pairs[r]
		p.out.now.peer, p.in.now.peer, p.in.now.in = uint32(ranks[r]+1), uint32(ranks[r]+1), true
	}
	c.paths = paths{comm: c, channel: channelOf(id, false), links: make([]fabric.Link, len(ranks))}
	c.direct = paths{comm: c, channel: channelOf(id, true), links: make([]fabric.Link, len(ranks))}
	if len(ranks) > 1 {
		c.planner = collective.NewPlanner()
	}
	c.exec = collective.NewExecutor(rank, len(ranks), &c.paths, c.paths.failed)
	return c
}

// channelOf returns the fabric channel of a group's collectives, or that of its
// point-to-point messages.
func channelOf(id uint32, pairs bool) fabric.Channel {
	if pairs {
		return fabric.Channel(2*id + 1)
	}
	return fabric.Channel(2 * id)
}

// Rank is this process's place in the group, from 0.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of ranks in the group.
func (c *Comm) Size() int { return len(c.ranks) }

// Fabric names what carries the messages: "tcp", "mem", or "none" for a rank
// that is alone.
func (c *Comm) Fabric() string { return c.job.fabricName() }

// Streams is how many TCP connections carry messages to each peer, where TCP does; 1
// elsewhere.
func (c *Comm) Streams() int { return max(1, c.job.streams) }

// Host names the machine of a rank of the group, as far as it is known.
func (c *Comm) Host(rank int) string { return c.job.host(c.ranks[rank]) }

// Err returns why the group is of no more use; nil as long as it works.
func (c *Comm) Err() error {
	if !c.failed.Load() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// Traffic counts what this process has sent and received for all groups.
func (c *Comm) Traffic() Traffic {
	if counter, ok := c.job.fab.(fabric.Counter); ok {
		return counter.Traffic()
	}
	return Traffic{}
}

// Abort ends the group at all ranks: pending and later calls return an
// *AbortError with the reason.
func (c *Comm) Abort(reason string) {
	c.failAll(&AbortError{Rank: c.job.rank, Reason: reason})
}

// Close leaves the group. Closing the Comm of Init or Local closes all groups made
// from it and tells the peers that this rank has left in good order.
func (c *Comm) Close() error {
	if c.id == worldID {
		return c.job.close()
	}
	c.drain()
	c.job.forget(c) // before the links go: who loses one asks
	c.release()
	return nil
}

// drain ends the group at this rank and returns when no operation uses it any more;
// release comes next.
func (c *Comm) drain() {
	c.fail(&ClosedError{})
	c.turn.enterAndWait()
}

// release gives back what operations of the group used.
func (c *Comm) release() {
	defer c.turn.leave()
	c.exec.Close()
	c.current.release()
	c.paths.close()
	c.direct.close()
	for i := range c.pairs {
		c.pairs[i].release()
	}
}

// Do performs one operation and returns when it is done.
func (c *Comm) Do(ctx context.Context, r *Request) error {
	if r.Kind.PointToPoint() {
		return c.exchange(ctx, r)
	}
	var a call
	wait, err := c.admit(r, &a)
	if err != nil {
		return err
	}
	return c.run(ctx, r, &a, wait)
}

// Start begins an operation and returns at once. The buffers must be left alone
// until it is done.
func (c *Comm) Start(ctx context.Context, r *Request) *Work {
	w := &Work{done: make(chan struct{})}
	r = r.clone()
	if r.Kind.PointToPoint() {
		c.startExchange(ctx, r, w)
		return w
	}
	var a call
	wait, err := c.admit(r, &a)
	if err != nil {
		w.finish(err)
		return w
	}
	go func() { w.finish(c.run(ctx, r, &a, wait)) }()
	return w
}

// admit validates a collective and gives it its place among the others. It fills in a,
// which is handed on by its address: a copy would have to wait for what was just written.
func (c *Comm) admit(r *Request, a *call) (wait <-chan struct{}, err error) {
	count, err := r.check(c.rank, len(c.ranks))
	if err != nil {
		return nil, fmt.Errorf("thunder: %w", err)
	}
	if c.failed.Load() {
		return nil, c.Err()
	}
	a.generation, a.group = c.job.generation, c.id
	a.kind, a.dtype, a.algo = r.Kind, r.DType, r.Algo
	if r.Kind.Reduces() {
		a.op = r.Op
	}
	if r.Kind.Rooted() {
		a.root = uint32(r.Root)
	}
	if !r.Varying {
		a.count = uint64(count) // else every message's own length is compared
	}
	a.seq, wait = c.turn.enter()
	return wait, nil
}

// run performs an admitted collective when its turn has come.
func (c *Comm) run(ctx context.Context, r *Request, a *call, wait <-chan struct{}) error {
	if wait != nil {
		<-wait // every operation before this one ends: it has a deadline
	}
	defer c.turn.leave()
	if c.failed.Load() {
		return c.Err()
	}
	if c.censusDue(r) {
		if err := c.first(ctx, *a); err != nil {
			return err
		}
	}
	plan, err := c.plan(r, int(a.count))
	if err != nil || plan == nil {
		return err
	}
	a.algo = plan.Algo()
	a.encode(&c.tag)
	var op collective.Operation
	op.Plan, op.Tag, op.Main, op.Input = plan, &c.tag, r.Recv, r.Send
	// What is short goes out before all else, which is then done while it is under way.
	started := false
	if ctx.Err() == nil {
		started, err = c.exec.Begin(c.ctx, &op)
	}
	now := c.job.clock.Now()
	c.current.begin(c, ctx, a.seq, &c.tag, now)
	switch {
	case err != nil:
	case started:
		err = c.exec.Finish(c.ctx, &op)
	case ctx.Err() != nil:
		err = c.giveUp(ctx, *a)
	default:
		c.pages.Used(r.Recv)
		c.pages.Used(r.Send)
		err = c.exec.Finish(c.ctx, &op)
	}
	took := c.job.clock.Now() - now
	c.current.end(a.seq, took, err)
	c.meter.note(a, c.job.clock.Span(took), err)
	if err != nil {
		return c.explain(err, *a)
	}
	return nil
}
