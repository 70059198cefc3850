package launch

import (
	"context"
	"time"

	"thundercollective/internal/launch/local"
	"thundercollective/internal/launch/wire"
)

// supervise returns when all ranks are gone or given up. It returns what ended the job, or
// nil if every rank succeeded.
func (g *generation) supervise(ctx context.Context) error {
	var (
		done, now = ctx.Done(), g.now
		linger    = delay(g.cfg.Linger, local.DefaultLinger)
		grace     = delay(g.cfg.Grace, local.DefaultGrace)
		ending    bool
		step      <-chan time.Time
		escalate  = wire.KindTerminate
		tick      = time.NewTicker(time.Second)
	)
	defer tick.Stop()
	g.showProgress()
	for len(g.busy) > 0 {
		select {
		case e := <-g.events:
			g.handle(e)
		case <-g.late():
			g.recovery.late = true
		case <-done:
			done, ending = nil, true
			g.fail(context.Cause(ctx))
			step = time.After(0)
		case <-now:
			now, escalate = nil, wire.KindKill
			step = time.After(0)
		case <-step:
			switch escalate {
			case wire.KindTerminate:
				g.broadcast(wire.KindTerminate)
				escalate, step = wire.KindKill, time.After(grace+killAfter)
			case wire.KindKill:
				g.broadcast(wire.KindKill)
				escalate, step = wire.KindFinished, time.After(killAfter)
			default:
				g.giveUp()
			}
		case <-tick.C:
			g.showProgress()
		}
		if g.first != nil && !ending {
			switch g.react() {
			case endNow:
				ending, step = true, time.After(0)
			case endSoon:
				ending, step = true, time.After(linger)
			}
		}
	}
	g.first = g.culprit(g.first)
	return g.first
}

func delay(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return max(d, 0)
}
