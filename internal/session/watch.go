package session

import "time"

// watchEvery is how often deadlines are looked at; a context's own deadline acts at once.
const watchEvery = 100 * time.Millisecond

// watch looks after the operations under way, and after the other ranks.
func (a *alive) watch() {
	timer := time.NewTimer(watchEvery)
	defer timer.Stop()
	var looked time.Time
	for {
		a.judge()
		if now := time.Now(); now.Sub(looked) >= watchEvery {
			looked = now
			for _, g := range a.session.groups.all() {
				g.Check()
			}
		}
		// Not at once: a timer that is due runs in the goroutine that selects it, and with the race
		// detector two of those in one bubble of synctest crash each other (Go 1.26).
		timer.Reset(max(min(a.next(), watchEvery), time.Nanosecond))
		select {
		case <-a.session.ctx.Done():
			return
		case <-a.wake:
		case <-timer.C:
		}
	}
}
