package thunder

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"thundercollective/internal/recorder"
	"thundercollective/internal/ticks"
)

// TestActivity follows one operation through everything that looks at it.
func TestActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Comm{job: &job{clock: &ticks.Clock{}}}
		a := &activity{peer: 3, in: true}
		clock := c.job.clock
		if _, ok := a.running(); ok || a.entries() != nil {
			t.Error("something runs before anything began")
		}
		o := call{group: 7, seq: 5, kind: KindSend, dtype: F32, count: 2}
		tag := o.tag()
		o.peer, o.in = 3, true
		a.begin(c, context.Background(), o.seq, &tag, clock.Now())
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
		a.beginAside(c, context.Background(), call{seq: 6}, clock.Now())
		if got, ok := a.running(); !ok || got.call.seq != 6 || len(a.entries()) != 1 {
			t.Errorf("aside: %+v, %v", got, ok)
		}
		a.endAside()
		if _, ok := a.running(); ok {
			t.Error("it goes on aside")
		}
	})
}

// TestActivityAbandoned: an operation whose context ends in the moment in which it
// begins, so that the end finds nothing to end, is ended by the next look.
func TestActivityAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		comms, err := Local(2, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range comms {
			defer c.Close()
		}
		c := comms[0]
		ctx, cancel := context.WithCancel(t.Context())
		c.current.under(c, ctx)
		cancel()
		synctest.Wait() // the end of the context has found nothing
		tag := call{seq: 1}.tag()
		c.current.begin(c, ctx, 1, &tag, c.job.clock.Now())
		if err := c.Err(); err != nil {
			t.Fatalf("failed too early: %v", err)
		}
		time.Sleep(2 * watchEvery)
		if c.Err() == nil {
			t.Error("nobody noticed")
		}
	})
}
