package telemetry

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/failure"
	"thundercollective/internal/recorder"
)

// dumpTime bounds how long a failing call waits for the flight recorder's file.
const dumpTime = 300 * time.Millisecond

// dumper writes the flight recorder to files.
type dumper struct {
	dir  string // "" for nowhere
	busy sync.WaitGroup

	gate   sync.Mutex // guards closed and the start of a dump
	closed bool

	mu     sync.Mutex
	failed bool // the last dump could not be written
}

// begin runs f, which writes a dump, unless the dumper is closed: a group may still fail
// then. It reports whether it did.
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

// save writes a dump. It returns an error only if the dump before succeeded, so that a
// bad folder is reported once and not for every group.
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

// Write writes what the flight recorder holds of all groups, as JSON that thunder
// inspect reads.
func (t *Job) Write(w io.Writer) error {
	return writeDump(w, t.Snapshot("asked for"))
}

func writeDump(w io.Writer, d *recorder.Dump) error { return json.NewEncoder(w).Encode(d) }

// Dump writes the flight recorder to its file. It returns when that is done, or after
// dumpTime.
func (t *Job) Dump(reason string) {
	if t.dumps.dir == "" {
		return
	}
	d := t.Snapshot(reason)
	done := make(chan struct{})
	begun := t.dumps.begin(func() {
		defer close(done)
		if err := t.dumps.save(d); err != nil {
			t.cfg.Log.Warn("flight recorder not written", "err", err)
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

// Snapshot returns the state of this rank now.
func (t *Job) Snapshot(reason string) *recorder.Dump {
	now, wall := t.cfg.Clock.Read(), time.Now()
	d := &recorder.Dump{
		Version: recorder.Version, Rank: t.cfg.Rank, Size: t.cfg.Size, Generation: t.cfg.Generation, Host: t.cfg.Host,
		PID: os.Getpid(), Fabric: t.cfg.Fabric, Reason: reason, Time: wall,
	}
	groups := t.groups()
	slices.SortFunc(groups, func(a, b Source) int { return cmp.Compare(a.ID(), b.ID()) })
	for _, g := range groups {
		d.Groups = append(d.Groups, g.Record(now, wall))
	}
	traffic := t.traffic()
	for _, p := range t.cfg.Status().Peers {
		sum := traffic[p.Rank]
		peer := recorder.Peer{
			Rank: p.Rank, Host: p.Host, Silent: p.Silent, SentMessages: sum.SentMessages, SentBytes: sum.SentBytes,
			RecvMessages: sum.RecvMessages, RecvBytes: sum.RecvBytes,
		}
		if p.Gone != nil {
			peer.Gone = p.Gone.Error()
		}
		d.Peers = append(d.Peers, peer)
	}
	return d
}

// traffic adds up, by rank of the job, what crossed the links of the open groups.
func (t *Job) traffic() []fabric.Traffic {
	sums := make([]fabric.Traffic, t.cfg.Size)
	for _, g := range t.groups() {
		g.AddTraffic(sums)
	}
	return sums
}

// FailureOf converts the error of a group for a dump.
func FailureOf(err error) *recorder.Failure {
	switch e := err.(type) {
	case *failure.PeerLostError:
		return &recorder.Failure{Kind: "lost", Rank: e.Rank, Text: e.Error()}
	case *failure.TimeoutError:
		return &recorder.Failure{Kind: "timeout", Rank: e.Rank, Text: e.Error()}
	case *failure.MismatchError:
		return &recorder.Failure{Kind: "mismatch", Rank: e.RankA, Text: e.Error()}
	case *failure.AbortError:
		return &recorder.Failure{Kind: "abort", Rank: e.Rank, Text: e.Error()}
	}
	return nil
}

// CheckDir creates the folder for dumps, and reports what is wrong with it before the
// job begins.
func CheckDir(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return failure.BadOption("folder for the flight recorder (THUNDER_DUMP_DIR): %w", err)
	}
	return nil
}
