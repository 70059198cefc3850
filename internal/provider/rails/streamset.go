package rails

// A streamSet holds the streams of a link and picks the one that carries the next
// segment. It is guarded by link.mu, except plan, which does not change.
type streamSet struct {
	l     *link
	plan  []int      // by stream: on which of the rails it is
	list  []*stream  // by index; nil where none is alive
	live  int        // how many are alive
	loads []railLoad // by rail
	last  *stream    // the last one that received a segment
}

// A railLoad is what the streams of one link have on one rail.
type railLoad struct {
	pace  pace
	live  int // streams
	bytes int // under way
}

func newStreamSet(l *link) streamSet {
	plan := l.f.cfg.plan(l.peer, l.ch)
	return streamSet{
		l: l, plan: plan, list: make([]*stream, len(plan)),
		loads: make([]railLoad, len(l.f.cfg.Rails[l.peer])),
	}
}

// railOf returns the rail of a stream.
func (t *streamSet) railOf(stream int) *rail { return t.l.f.rails[t.l.peer][t.plan[stream]] }

// offer wakes an idle stream to carry what is queued, on the rail with the least under
// way relative to its rate. Busy streams look into the queue when they are done.
func (t *streamSet) offer() {
	var best *stream
	var least float64
	for _, s := range t.list {
		if s == nil || !s.idle || !s.takes() {
			continue
		}
		wait := float64(s.load.bytes+1) / (s.load.pace.rate + 1)
		if best == nil || wait < least {
			best, least = s, wait
		}
	}
	if best != nil {
		best.idle = false
		best.wake.Signal()
	}
}

// wakeAll makes every stream look into the queue.
func (t *streamSet) wakeAll() {
	for _, s := range t.list {
		if s != nil {
			s.wake.Signal()
		}
	}
}

// takes reports whether a rail should carry the next segment, of n bytes: it has room,
// and the segment would not be late on it. A segment is late if it arrives after the
// time in which all rails together deliver everything that is left. So a slow rail
// stops early enough before the end of a message for all rails to finish together. The
// rail on which the segment would arrive first always takes it.
func (t *streamSet) takes(rl *railLoad, n int) bool {
	switch {
	case rl.bytes == 0 && rl.pace.rate == 0:
		return true // its rate is not known yet
	case rl.bytes > 0 && rl.bytes+n > rl.pace.window():
		return false
	}
	if t.only() == rl {
		return true
	}
	left, rate := t.l.out.queue.bytes+t.l.out.uncut, 0.0
	for i := range t.loads {
		if o := &t.loads[i]; o.live > 0 {
			left += o.bytes + n // n: rounding up to whole segments
			rate += o.pace.rate
		}
	}
	return float64(rl.bytes+n)*rate <= float64(left)*rl.pace.rate
}

// only returns the load of the one rail that Fabric.Only has selected; nil if all
// rails may be used.
func (t *streamSet) only() *railLoad {
	only := t.l.f.only[t.l.peer].Load()
	for i := range t.loads {
		if rl := &t.loads[i]; only != nil && rl.live > 0 && t.l.f.rails[t.l.peer][i] == only {
			return rl
		}
	}
	return nil
}
