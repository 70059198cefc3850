package telemetry

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/failure"
	"thundercollective/internal/metrics"
	"thundercollective/internal/provider/rails"
	"thundercollective/internal/recorder"
	"thundercollective/internal/ticks"
)

// A Source is a group, as far as it is counted and recorded.
type Source interface {
	ID() uint32
	Meter() *Meter
	// Record returns the group's recorded operations. Those that still run have taken
	// until now, which is wall on the calendar.
	Record(now ticks.Reading, wall time.Time) recorder.Group
	// AddTraffic adds what crossed the group's links to sums, by rank of the job.
	AddTraffic(sums []fabric.Traffic)
}

// A PeerState is what this rank knows of another one.
type PeerState struct {
	Rank   int
	Host   string
	Silent time.Duration // since it was last heard of
	Gone   error         // why it has left; nil while it is there
}

// A Status is the state of the job that its session knows.
type Status struct {
	Peers               []PeerState
	BeatsSent, Received uint64 // heartbeats sent; messages received on the control channel
}

// Config describes the rank.
type Config struct {
	Rank, Size int
	Generation uint32
	Host       string
	Fabric     string
	Clock      *ticks.Clock
	Log        *slog.Logger
	DumpDir    string // where dumps are written; "" for nowhere
	Status     func() Status
	Rails      func() []rails.State // nil if there are none
}

// A Job collects what one rank tells about itself.
type Job struct {
	cfg    Config
	dumps  dumper
	server *metrics.Server // nil if metrics are not served
	done   chan struct{}   // closed by Close
	wg     sync.WaitGroup

	mu      sync.Mutex
	sources map[uint32]Source
	past    Meter // collectives of groups that are closed
	pairs   Meter // point-to-point messages

	// Groups that ended, by kind of error.
	lost, timeouts, mismatches, aborts atomic.Uint64
}

// New returns the Job of a rank. Close it.
func New(cfg Config) *Job {
	t := &Job{cfg: cfg, dumps: dumper{dir: cfg.DumpDir}, done: make(chan struct{}), sources: map[uint32]Source{}}
	if cfg.DumpDir != "" {
		t.wg.Go(t.dumpOnSignal)
	}
	return t
}

// Add has a group counted.
func (t *Job) Add(s Source) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sources[s.ID()] = s
}

// Remove forgets a group, but not what it counted.
func (t *Job) Remove(s Source) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sources[s.ID()] == s {
		delete(t.sources, s.ID())
		t.past.merge(s.Meter())
	}
}

// NotePair counts a point-to-point message.
func (t *Job) NotePair(kind collective.Kind, bytes uint64, took time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pairs.Note(kind, bytes, took, err)
}

// NoteFailure counts the end of a group.
func (t *Job) NoteFailure(err error) {
	switch err.(type) {
	case *failure.PeerLostError:
		t.lost.Add(1)
	case *failure.TimeoutError:
		t.timeouts.Add(1)
	case *failure.MismatchError:
		t.mismatches.Add(1)
	case *failure.AbortError:
		t.aborts.Add(1)
	}
}

// operations adds up what all groups have done, closed ones included.
func (t *Job) operations() *Meter {
	sum := &Meter{}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.sources {
		sum.merge(s.Meter())
	}
	sum.merge(&t.past)
	sum.merge(&t.pairs)
	return sum
}

// groups returns the open groups.
func (t *Job) groups() []Source {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]Source, 0, len(t.sources))
	for _, s := range t.sources {
		list = append(list, s)
	}
	return list
}

// Close stops serving metrics and waits for dumps that are being written.
func (t *Job) Close() error {
	close(t.done)
	t.wg.Wait()
	t.dumps.close()
	if t.server != nil {
		return t.server.Close()
	}
	return nil
}
