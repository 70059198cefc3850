package rails

import "time"

// pace measures the rate of a rail and how much may be under way on it.
//
// Acknowledgements queue behind the data that the other end sends. If a full window were
// in the queues while both ends send, each end would deliver its window and then wait
// for acknowledgements behind the other's window: they would take turns. So the queues
// are kept shorter than the window: a stream hands the system what it sends in about a
// millisecond (ahead), and several times that may be unacknowledged (slack).
type pace struct {
	delivered uint64  // bytes acknowledged
	rate      float64 // bytes per second: the highest of late
	trip      time.Duration
	tripAt    time.Time
}

const (
	leastWindow = 8 * segmentSize
	mostWindow  = maxSegments * segmentSize
	// tripLife is how long a shortest round trip counts.
	tripLife = 10 * time.Second
	// slack is how long acknowledgements may take, beyond the round trips.
	slack = 8 * time.Millisecond
	// ahead is how long what the system has been handed keeps a rail busy.
	ahead = time.Millisecond
	// fade is the factor by which a lower sample reduces the rate.
	fade = 0.995
)

// window returns how many bytes may be under way.
func (p *pace) window() int {
	w := p.rate * (3*p.trip + slack).Seconds()
	return int(min(max(w, leastWindow), mostWindow))
}

// depth returns how much each stream of a rail hands to the system ahead of the wire.
func (rl *railLoad) depth() int {
	d := rl.pace.rate * ahead.Seconds() / float64(max(rl.live, 1))
	return int(min(max(d, 2*segmentSize), mostWindow))
}

// ack takes the acknowledgement of a segment as a sample.
func (p *pace) ack(seg *segment, now time.Time) {
	p.delivered += uint64(seg.n)
	took := max(now.Sub(seg.sentAt), time.Microsecond)
	if p.trip == 0 || took <= p.trip || now.Sub(p.tripAt) > tripLife {
		p.trip, p.tripAt = took, now
	}
	rate := float64(p.delivered-seg.delivered) / took.Seconds()
	p.rate = max(rate, p.rate*fade)
}
