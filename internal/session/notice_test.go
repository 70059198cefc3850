package session

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/failure"
	"thundercollective/internal/provider/mem"
)

// FuzzNotice reads any notice, and reads what it writes of it as the same one.
func FuzzNotice(f *testing.F) {
	for _, err := range []error{
		&failure.PeerLostError{Rank: 3, Cause: "gone"},
		&failure.MismatchError{Sequence: 9, RankA: 1, RankB: 2, CallA: "barrier", CallB: "allreduce"},
		&failure.TimeoutError{Rank: 1, Operation: "barrier", After: 5},
		&failure.AbortError{Rank: 1, Reason: "because"},
	} {
		var b [noticeSize]byte
		noticeOf(7, err).encode(&b)
		f.Add(b[:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < noticeSize {
			return
		}
		n := parseNotice((*[noticeSize]byte)(b))
		if n.err() == nil {
			t.Error("no error")
		}
		var again [noticeSize]byte
		n.encode(&again)
		if *parseNotice(&again) != *n {
			t.Errorf("%+v became %+v", n, parseNotice(&again))
		}
	})
}

// FuzzHear lets a rank hear anything from a peer; it must survive it.
func FuzzHear(f *testing.F) {
	for kind := range noticeWithdraw + 2 {
		var b [noticeSize]byte
		(&notice{kind: kind, group: WorldID, seq: 1, rankA: 1}).encode(&b)
		f.Add(b[:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < noticeSize {
			return
		}
		sessions, groups := pairOfSessions(t)
		s := sessions[0]
		s.hear(s.control.peers[1], parseNotice((*[noticeSize]byte)(b)))
		for i, s := range sessions {
			if _, err := s.Close(); err != nil {
				t.Errorf("session %d: %v", i, err)
			}
			if groups[i].Err() == nil {
				t.Errorf("group %d is still open", i)
			}
		}
	})
}

// pairOfSessions returns the sessions of two ranks that have met, each with a group of
// both.
func pairOfSessions(t *testing.T) (sessions [2]*Session, groups [2]*fakeGroup) {
	fabrics, err := mem.New(2)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for r := range sessions {
		sessions[r] = New(Config{
			Fabric: fabrics[r], Rank: r, Hosts: []string{"a", "b"}, Timeout: time.Minute, HeartbeatTimeout: time.Minute,
			Log: slog.New(slog.DiscardHandler), LinkName: func(int) string { return "mem" },
		})
		groups[r] = &fakeGroup{rank: r, done: make(chan struct{})}
		wg.Go(func() {
			if err := sessions[r].Join(t.Context()); err != nil {
				t.Error(err)
				return
			}
			sessions[r].Start(groups[r])
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return sessions, groups
}

// fakeGroup is a group of two ranks that has called one operation.
type fakeGroup struct {
	rank int
	mu   sync.Mutex
	err  error
	done chan struct{}
}

func (g *fakeGroup) ID() uint32   { return WorldID }
func (g *fakeGroup) Ranks() []int { return []int{0, 1} }
func (g *fakeGroup) Rank() int    { return g.rank }

func (g *fakeGroup) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

func (g *fakeGroup) SetFailure(err error) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return false
	}
	g.err = err
	return true
}

func (g *fakeGroup) Finish(error)          { close(g.done) }
func (g *fakeGroup) Done() <-chan struct{} { return g.done }
func (g *fakeGroup) Check()                {}
func (g *fakeGroup) Release()              {}

func (g *fakeGroup) Drain() {
	if err := error(&failure.ClosedError{}); g.SetFailure(err) {
		g.Finish(err)
	}
}

func (g *fakeGroup) Latest() (uint64, fabric.Tag) { return 1, fabric.Tag{1} }

func (g *fakeGroup) Compare(peer int, seq uint64, tag *fabric.Tag) error {
	if seq != 1 || *tag == (fabric.Tag{1}) {
		return nil
	}
	return &failure.MismatchError{Sequence: seq, RankA: g.rank, RankB: peer}
}
