package rails

import "time"

// pace measures what a rail delivers, and how much may be under way on it for that.
//
// Acknowledgements queue behind what the other end sends. If as much were in the queues
// as may be under way, then with both ends sending, each would have its window
// delivered and wait for acknowledgements which are behind the other's window: the
// two would take turns. So the queues are kept shorter than the window: a stream hands
// to the system what it sends in about a millisecond (ahead), and several times
// that may be unacknowledged (slack).
type pace struct {
	delivered uint64  // bytes acknowledged
	rate      float64 // bytes per second; the most seen lately
	trip      time.Duration
	tripAt    time.Time
}

const (
	leastWindow = 8 * segmentSize
	mostWindow  = maxSegments * segmentSize
	// tripLife is how long the shortest round trip is believed in.
	tripLife = 10 * time.Second
	// slack is how long acknowledgements may take, beyond the round trips.
	slack = 8 * time.Millisecond
	// ahead is how long a rail is kept busy by what the system has been handed.
	ahead = time.Millisecond
	// fade is what a rate loses with each sample that does not reach it.
	fade = 0.995
)

// window is how many bytes may be under way.
func (p *pace) window() int {
	w := p.rate * (3*p.trip + slack).Seconds()
	return int(min(max(w, leastWindow), mostWindow))
}

// depth is how much each stream of a rail hands to the system ahead of the wire.
func (rl *railLoad) depth() int {
	d := rl.pace.rate * ahead.Seconds() / float64(max(rl.live, 1))
	return int(min(max(d, 2*segmentSize), mostWindow))
}

// ack takes the sample that the acknowledgement of a segment is.
func (p *pace) ack(seg *segment, now time.Time) {
	p.delivered += uint64(seg.n)
	took := max(now.Sub(seg.sentAt), time.Microsecond)
	if p.trip == 0 || took <= p.trip || now.Sub(p.tripAt) > tripLife {
		p.trip, p.tripAt = took, now
	}
	rate := float64(p.delivered-seg.delivered) / took.Seconds()
	p.rate = max(rate, p.rate*fade)
}
