package rdma

import "thundercollective/fabric"

// Stats are what a link counts about itself.
type Stats struct {
	Copied           uint64 // payload bytes, at this end
	Repeats, Damaged uint64 // messages, on unreliable devices
}

// StatsOf reads them.
func StatsOf(l fabric.Link) Stats {
	r := l.(*Link)
	return Stats{r.stats.copied.Load(), r.stats.repeats.Load(), r.stats.damaged.Load()}
}

// Advertised reports whether the peer has said where the next message may be
// written.
func Advertised(l fabric.Link) bool {
	r := l.(*Link)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.engine.poll(nil)
	return r.toPeer.hasAdvert && r.toPeer.advert.msg == r.toPeer.msg
}
