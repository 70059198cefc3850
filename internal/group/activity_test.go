package group

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"thundercollective/internal/collective"
	"thundercollective/internal/recorder"
	"thundercollective/internal/reduce"
	"thundercollective/internal/ticks"
	"thundercollective/internal/tuning"
)

// TestActivity follows one operation through everything that looks at it.
func TestActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Group{cfg: Config{Clock: &ticks.Clock{}}}
		a := &activity{peer: 3, in: true}
		clock := g.cfg.Clock
		if _, ok := a.running(); ok || a.entries() != nil {
			t.Error("something runs before anything began")
		}
		o := call{group: 7, seq: 5, kind: collective.Send, dtype: reduce.F32, count: 2}
		tag := o.tag()
		o.peer, o.in = 3, true
		a.begin(g, context.Background(), o.seq, &tag, clock.Now())
		begun := time.Now()
		time.Sleep(time.Minute)
		if got, since, late := a.overdue(clock.Read(), time.Minute); late || got != o || !since.Equal(begun) {
			t.Errorf("%+v since %v, late %v", got, since, late)
		}
		for i, want := range []bool{true, false, true} { // asked at 60 s, 60 s and 90 s
			if got, ask := a.stalled(clock.Read(), 30*time.Second); ask != want || ask && got != o {
				t.Errorf("question %d: %+v, %v", i, got, ask)
			}
			time.Sleep(time.Duration(i) * 30 * time.Second)
		}
		if _, _, late := a.overdue(clock.Read(), time.Minute); !late {
			t.Error("not late after more than a minute")
		}
		a.end(o.seq, clock.Now(), nil)
		if _, ok := a.running(); ok || a.operation() != o {
			t.Errorf("what has ended runs %v; the last was %+v", ok, a.operation())
		}
		if e := a.entries(); len(e) != 1 || e[0].State != recorder.Done {
			t.Errorf("recorded %+v", e)
		}
		a.beginAside(g, context.Background(), call{seq: 6}, clock.Now())
		if got, ok := a.running(); !ok || got.call.seq != 6 || len(a.entries()) != 1 {
			t.Errorf("aside: %+v, %v", got, ok)
		}
		for range 2 { // during it, and before the operation itself is recorded
			_, known := a.recorded(6)
			if seq, tag := a.latest(); seq != 6 || callOf(&tag).seq != 6 || !known {
				t.Errorf("aside: the latest is %d, %v, known %v", seq, callOf(&tag), known)
			}
			a.endAside()
		}
		if _, ok := a.running(); ok {
			t.Error("it goes on aside")
		}
	})
}

// TestActivityAbandoned: an operation whose context ends in the moment in which it
// begins, so that the end finds nothing to end, is ended by the next look.
func TestActivityAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		session := &silentSession{}
		g := New(Config{
			ID: 1, Ranks: []int{0, 1}, Session: session, Hosts: collective.NewHosts([]string{"a", "b"}), Timeout: time.Hour,
			Tuning: &tuning.Job{}, History: 16, Clock: &ticks.Clock{}, Failed: func(error) {},
		})
		defer func() {
			g.Drain()
			g.Release()
		}()
		ctx, cancel := context.WithCancel(t.Context())
		g.current.under(g, ctx)
		cancel()
		synctest.Wait() // the end of the context has found nothing
		tag := call{seq: 1}.tag()
		g.current.begin(g, ctx, 1, &tag, g.cfg.Clock.Now())
		if err := g.Err(); err != nil {
			t.Fatalf("failed too early: %v", err)
		}
		g.Check()
		if g.Err() == nil || session.announced != g.Err() {
			t.Errorf("nobody noticed: the group has %v, the peers were told %v", g.Err(), session.announced)
		}
	})
}

// silentSession is that of a group whose peers never say anything.
type silentSession struct {
	Session
	announced error
}

func (s *silentSession) Announce(_ uint32, _ []int, err error) { s.announced = err }
