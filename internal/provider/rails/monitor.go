package rails

import (
	"errors"
	"fmt"
	"time"
)

// silence is how long, in units of Config.Stall, all streams of a link may be silent
// before the peer is given up where the system cannot tell whether it answers.
const silence = 10

// monitor drops streams that make no progress, until the fabric is closed.
func (f *Fabric) monitor() {
	tick := time.NewTicker(min(max(f.cfg.Stall/4, 10*time.Millisecond), hedgeTime))
	defer tick.Stop()
	var links []*link // reused, so that a look does not allocate
	for {
		select {
		case <-f.ctx.Done():
			return
		case now := <-tick.C:
			links = f.links.AppendAll(links[:0])
			for _, l := range links {
				l.look(now)
			}
			f.leaveSuspects(links)
		}
	}
}

// leaveSuspects makes all links leave the rails that were lost since the last look.
func (f *Fabric) leaveSuspects(links []*link) {
	for _, rails := range f.rails {
		for _, r := range rails {
			if lost, was := r.suspected(); was {
				for _, l := range links {
					l.leave(r, lost)
				}
			}
		}
	}
}

var (
	errStalled = errors.New("no acknowledgement")
	errSilent  = errors.New("the peer's network stopped answering")
	errOther   = errors.New("another stream on the same rail was lost")
)

// look drops the streams of a link that have stalled: those whose segments are not
// acknowledged while other streams make progress, and those where the system reports
// that the other machine does not answer.
func (l *link) look(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.hedge(now)
	stall := l.f.cfg.Stall
	var stalled []*stream
	others := false // some stream makes progress
	for _, s := range l.streams.list {
		switch {
		case s == nil:
		case s.quiet(now) > stall:
			stalled = append(stalled, s)
		default:
			others = true
		}
	}
	for _, s := range stalled {
		switch {
		case others:
			l.drop(s, fmt.Errorf("%w for %v", errStalled, stall))
		case unanswered(s.conn) > stall, s.quiet(now) > silence*stall:
			l.drop(s, errSilent)
		}
	}
}

// quiet returns how long the stream has been waiting for an acknowledgement.
func (s *stream) quiet(now time.Time) time.Duration {
	if s.underway.len() == 0 {
		return 0
	}
	since := s.underway.front().sentAt
	if s.lastAck.After(since) {
		since = s.lastAck
	}
	return now.Sub(since)
}

// leave drops the streams on a rail that another stream has lost, if they are older
// than the loss.
func (l *link) leave(r *rail, lost time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams.list {
		if s != nil && s.rail == r && s.born.Before(lost) && l.streams.live > 1 {
			l.drop(s, errOther)
		}
	}
}
