package rails

import "time"

// pace measures what a stream delivers, and how much should be under way on it for
// that: three times what it delivers in its shortest round trip (acknowledgements may
// have to queue behind what the other end sends). More would only wait in
// queues, and be late when the message ends.
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
	// fade is what a rate loses with each sample that does not reach it.
	fade = 0.995
)

// window is how many bytes may be under way.
func (p *pace) window() int {
	w := 3*p.rate*p.trip.Seconds() + 4*segmentSize
	return int(min(max(w, leastWindow), mostWindow))
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
