package thunder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/liveness"
	"thundercollective/internal/metrics"
	"thundercollective/internal/ticks"
)

// worldID is the group of all ranks. Other groups get theirs in Split.
const worldID = 1

// A job is this process's part in the whole: the fabric, the groups, and what is
// known of the other ranks.
type job struct {
	fab        fabric.Fabric // nil for a rank that is alone
	wiring     *wiring       // nil without Init
	rank       int
	generation uint32
	hosts      []string   // by rank
	addrs      [][]string // where each rank listens, by rank; empty where nobody does
	timeout    time.Duration
	algo       Algo
	streams    int                   // TCP connections to each peer
	crowded    bool                  // more ranks than processors on this machine
	model      atomic.Pointer[Model] // what was read or measured; nil for nothing
	profiled   bool                  // there is a profile
	calibrate  bool                  // without one, the first operation measures
	segment    int                   // bytes in which messages travel; 0 to choose
	smallPages bool                  // buffers stay in the pages that they are in
	log        *slog.Logger
	silence    time.Duration // after which a rank is taken for dead
	grace      time.Duration // for a rank to be heard of at all
	alive      *alive
	dumps      dumper
	blamer     blamer
	meters     meters
	clock      *ticks.Clock                                                // of the books
	again      func(ctx context.Context, generation uint32) (*Comm, error) // nil where there is no other generation
	metricsAt  string                                                      // where to serve metrics; "" for nowhere
	metrics    *metrics.Server                                             // nil for none
	meeting    meeting                                                     // of this rank and the others, while it starts
	peers      []*peer                                                     // by rank; nil for this one
	everybody  []int                                                       // all ranks

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
	// tellers are goroutines that deliver notices; they may begin while wg is
	// being waited for.
	tellers sync.WaitGroup

	convicting sync.Mutex // see convict

	mu     sync.Mutex
	groups map[uint32]*Comm
	past   departed         // groups that this rank has closed
	early  map[uint32]error // failures of groups that do not exist here yet
	losses map[int]error    // why ranks that died are lost
	// The agreements on who is left of a group, by its number.
	agreements map[uint32]*shrinking
	closed     bool
}

// start joins the control channel of every peer, which proves that all of them are
// there and agree on the job, and returns the group of all ranks.
func (j *job) start(ctx context.Context) (*Comm, error) {
	n := len(j.hosts)
	j.groups, j.early = map[uint32]*Comm{}, map[uint32]error{}
	j.losses, j.agreements = map[int]error{}, map[uint32]*shrinking{}
	j.ctx, j.stop = context.WithCancel(context.Background())
	j.peers = make([]*peer, n)
	ranks := make([]int, n)
	for r := range ranks {
		ranks[r] = r
		if r != j.rank {
			j.peers[r] = &peer{rank: r, left: make(chan struct{}), first: make(chan error, 1), at: map[uint32]place{}}
		}
	}
	if err := j.connect(ctx); err != nil {
		j.regret(err)
		j.blame(err)
		j.stop()
		j.wg.Wait()
		return nil, err
	}
	j.alive = newAlive(liveness.Config{Self: j.rank, Size: n, Timeout: j.silence, Grace: j.grace})
	j.everybody = ranks
	world := newComm(j, worldID, ranks, j.rank)
	j.add(world)
	for _, p := range j.peers {
		if p != nil {
			j.wg.Go(func() { j.listen(p) })
			j.wg.Go(func() { j.beat(p) })
		}
	}
	if n > 1 {
		j.wg.Go(j.watch)
	}
	if j.dumps.dir != "" {
		j.wg.Go(j.dumpOnSignal)
	}
	if j.metricsAt != "" {
		if err := j.serveMetrics(j.metricsAt); err != nil {
			j.close()
			return nil, fmt.Errorf("thunder: %w", err)
		}
	}
	return world, nil
}

func (j *job) host(rank int) string { return j.hosts[rank] }

// hostsOf groups ranks by their hosts.
func (j *job) hostsOf(ranks []int) *collective.Hosts {
	names := make([]string, len(ranks))
	for i, r := range ranks {
		names[i] = j.hosts[r]
	}
	return collective.NewHosts(names)
}

// algoFor is the job's algorithm for operations that have it; Auto for the rest.
func (j *job) algoFor(k Kind) Algo {
	for _, a := range collective.Algos(k) {
		if a == j.algo {
			return a
		}
	}
	return Auto
}

// add makes a group known to the control channel. It fails at once if it was said
// to have failed, or has ranks that are dead.
func (j *job) add(c *Comm) error {
	failure, err := j.enlist(c)
	if failure != nil {
		c.fail(failure)
	}
	return err
}

func (j *job) enlist(c *Comm) (failure, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, &ClosedError{}
	}
	if j.groups[c.id] != nil {
		return nil, fmt.Errorf("thunder: group %#x exists already; close groups that are no longer used", c.id)
	}
	j.groups[c.id] = c
	for _, r := range c.ranks {
		if err := j.losses[r]; err != nil {
			failure = err
		}
	}
	if err := j.early[c.id]; err != nil {
		delete(j.early, c.id)
		failure = err
	}
	return failure, nil
}

func (j *job) forget(c *Comm) {
	seq, _ := c.current.latest()
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.groups, c.id)
	j.meters.past.merge(&c.meter)
	j.past.add(c.id, seq)
}

// all returns the groups at this moment.
func (j *job) all() []*Comm {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := make([]*Comm, 0, len(j.groups))
	for _, c := range j.groups {
		list = append(list, c)
	}
	return list
}

// group returns one by its number, nil if there is none.
func (j *job) group(id uint32) *Comm {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.groups[id]
}

// failGroup ends a group because another rank said so; a group that this rank has
// yet to make fails when it does.
func (j *job) failGroup(id uint32, err error) {
	const most = 64 // a bound on what peers can leave here
	j.mu.Lock()
	c := j.groups[id]
	if c == nil && len(j.early) < most {
		j.early[id] = err
	}
	j.mu.Unlock()
	if c != nil {
		c.fail(err)
	}
}

// closing reports whether close was called.
func (j *job) closing() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closed
}

// close says goodbye and releases everything.
func (j *job) close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	j.mu.Unlock()
	for _, c := range j.all() {
		c.drain()
		c.release()
		// Who hears our goodbye before the reason for it would blame us.
		j.announce(c, c.Err())
	}
	j.tellAll(&notice{kind: noticeGoodbye})
	j.stop()
	var err error
	if j.fab != nil {
		err = j.fab.Close()
	}
	j.wg.Wait()
	j.tellers.Wait()
	j.dumps.close()
	if j.metrics != nil {
		err = errors.Join(err, j.metrics.Close())
	}
	return err
}
