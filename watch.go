package thunder

import "time"

const (
	// watchEvery is how often deadlines are looked at; a context's own deadline
	// acts at once.
	watchEvery = 100 * time.Millisecond
	// askEvery is how long an operation waits before it asks its peers what they
	// are doing, and how often it asks again. That finds ranks which disagree in
	// ways that leave nothing for them to receive from each other.
	askEvery = 500 * time.Millisecond
)

// watch looks after the operations under way, and after the other ranks.
func (j *job) watch() {
	timer := time.NewTimer(watchEvery)
	defer timer.Stop()
	var looked time.Time
	for {
		j.judge()
		if now := time.Now(); now.Sub(looked) >= watchEvery {
			looked = now
			for _, c := range j.all() {
				c.look()
			}
		}
		// Not at once: a timer that is due is run by whoever selects it, and with the race
		// detector two of those in one bubble of synctest crash each other (Go 1.26).
		timer.Reset(max(min(j.alive.next(), watchEvery), time.Nanosecond))
		select {
		case <-j.ctx.Done():
			return
		case <-j.alive.wake:
		case <-timer.C:
		}
	}
}

// look checks one group's deadlines and asks about what takes long.
func (c *Comm) look() {
	if c.Err() != nil {
		return
	}
	clock, limit := c.job.clock.Read(), c.job.timeout
	c.current.abandoned(c)
	if a, since, ok := c.current.overdue(clock, limit); ok {
		c.failAll(c.timeout(a, since))
		return
	}
	for i := range c.pairs {
		for _, t := range c.pairs[i].activities() {
			t.abandoned(c)
			if a, since, ok := t.overdue(clock, limit); ok {
				c.failAll(c.timeout(a, since))
				return
			}
		}
	}
	if a, ok := c.current.stalled(clock, askEvery); ok {
		n := &notice{kind: noticeWhere, group: c.id, seq: a.seq, tagA: a.tag()}
		for _, r := range c.ranks {
			if p := c.job.peers[r]; p != nil {
				c.job.tell(p, n)
			}
		}
	}
}
