package thunder

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/liveness"
	"thundercollective/internal/recorder"
)

// How many operations a group's recorder holds: that of all ranks, and the others;
// and how many messages in each direction between two ranks that exchange any.
const (
	remembered      = 4096
	rememberedSmall = 512
	rememberedPair  = 256
)

// dumpTime bounds how long a failing call waits for the flight recorder's file.
const dumpTime = 300 * time.Millisecond

// dumper writes the flight recorder to files.
type dumper struct {
	dir  string // "" for nowhere
	busy sync.WaitGroup

	gate   sync.Mutex // around closed, and the beginning of a dump
	closed bool

	mu     sync.Mutex
	failed bool // the last could not be written
}

// begin has f write a dump, unless the job is closed: a group may still fail then.
func (d *dumper) begin(f func()) bool {
	d.gate.Lock()
	defer d.gate.Unlock()
	if !d.closed {
		d.busy.Go(f)
	}
	return !d.closed
}

// close waits for dumps that are being written. None begins after it.
func (d *dumper) close() {
	d.gate.Lock()
	d.closed = true
	d.gate.Unlock()
	d.busy.Wait()
}

// save writes a dump. It reports an error only if the dump before it was written:
// what is wrong with the folder does not have to be said for every group.
func (d *dumper) save(dump *recorder.Dump) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := dump.Save(d.dir)
	known := d.failed
	if d.failed = err != nil; known {
		return nil
	}
	return err
}

// Dump writes what this rank's flight recorder holds, of all groups, as JSON that
// thunder inspect reads.
func (c *Comm) Dump(w io.Writer) error {
	return writeDump(w, c.job.snapshot("asked for"))
}

func writeDump(w io.Writer, d *recorder.Dump) error { return json.NewEncoder(w).Encode(d) }

// dump writes the recorder to its file, and waits a moment for that.
func (j *job) dump(reason string) {
	if j.dumps.dir == "" {
		return
	}
	d := j.snapshot(reason)
	done := make(chan struct{})
	begun := j.dumps.begin(func() {
		defer close(done)
		if err := j.dumps.save(d); err != nil {
			j.log.Warn("flight recorder not written", "err", err)
		}
	})
	if !begun {
		return
	}
	timer := time.NewTimer(dumpTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// snapshot is the state of this rank now.
func (j *job) snapshot(reason string) *recorder.Dump {
	clock, wall := j.clock.Read(), time.Now()
	d := &recorder.Dump{
		Version: recorder.Version, Rank: j.rank, Size: len(j.hosts), Generation: j.generation, Host: j.host(j.rank),
		PID: os.Getpid(), Fabric: j.fabricName(), Reason: reason, Time: wall,
	}
	traffic := make([]Traffic, len(j.hosts))
	groups := j.all()
	slices.SortFunc(groups, func(a, b *Comm) int { return int(a.id) - int(b.id) })
	operation := func(e *recorder.Entry, o call) recorder.Operation {
		if o.in {
			o.kind = KindRecv
		}
		op := recorder.Operation{
			Seq: e.Seq, Call: o.String(), Kind: o.kind.String(), DType: o.dtype.String(), Bytes: o.bytes(),
			Algo: o.algo.String(), Begin: wall.Add(-clock.Ago(e.Begin)), Took: j.clock.Span(e.Took), State: e.State.String(),
		}
		if e.State == recorder.Running {
			op.Took = clock.Ago(e.Begin)
		}
		return op
	}
	for _, c := range groups {
		g := recorder.Group{ID: c.id, Ranks: c.ranks, Failure: failureOf(c.Err())}
		for _, e := range c.current.entries() {
			g.Operations = append(g.Operations, operation(&e, callOf(&e.Tag)))
		}
		g.Pairs = c.exchanges(operation)
		d.Groups = append(d.Groups, g)
		c.paths.traffic(traffic)
		c.direct.traffic(traffic)
	}
	for r, p := range j.peers {
		if p == nil {
			continue
		}
		t := traffic[r]
		peer := recorder.Peer{
			Rank: r, Host: j.host(r), SentMessages: t.SentMessages, SentBytes: t.SentBytes,
			RecvMessages: t.RecvMessages, RecvBytes: t.RecvBytes,
		}
		j.alive.with(func(m *liveness.Monitor, now time.Duration) { peer.Silent = m.Silent(r, now) })
		if why := j.gone(r); why != nil {
			peer.Gone = why.Error()
		}
		d.Peers = append(d.Peers, peer)
	}
	return d
}

// failureOf puts a group's end into a dump.
func failureOf(err error) *recorder.Failure {
	switch e := err.(type) {
	case *PeerLostError:
		return &recorder.Failure{Kind: "lost", Rank: e.Rank, Text: e.Error()}
	case *TimeoutError:
		return &recorder.Failure{Kind: "timeout", Rank: e.Rank, Text: e.Error()}
	case *MismatchError:
		return &recorder.Failure{Kind: "mismatch", Rank: e.RankA, Text: e.Error()}
	case *AbortError:
		return &recorder.Failure{Kind: "abort", Rank: e.Rank, Text: e.Error()}
	}
	return nil
}

// traffic adds up, by rank of the job, what crossed the links.
func (p *paths) traffic(sums []Traffic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r, l := range p.links {
		if counter, ok := l.(fabric.Counter); ok {
			world := p.comm.ranks[r]
			sums[world] = sums[world].Add(counter.Traffic())
		}
	}
}

// checkDumpDir says early what is wrong with the folder.
func checkDumpDir(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return badOption("folder for the flight recorder (THUNDER_DUMP_DIR): %w", err)
	}
	return nil
}
