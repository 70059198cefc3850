package rails

import "time"

// pace measures what a rail delivers, and how much should be under way on it for
// that: three times what it delivers in its shortest round trip (acknowledgements may
// have to queue behind what the other end sends), and a little for the scheduler. More
// would only wait in queues, and hold up what the others have delivered.
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

// A lane is what a link knows of one of its rails: the streams on it share it.
type lane struct {
	pace  pace
	live  int // streams
	bytes int // under way
}

// takes says whether a rail should carry the next segment, of n bytes: it has room,
// and the segment would not be late on it. Late is after everything that is to be sent
// could have arrived, were it spread over the rails as they deliver. So a slow rail
// stops early enough before the end of a message for all to end together. The rail
// on which the segment would arrive first always takes it.
func (l *link) takes(la *lane, n int) bool {
	switch {
	case la.bytes == 0 && la.pace.rate == 0:
		return true // to be measured
	case la.bytes > 0 && la.bytes+n > la.pace.window():
		return false
	}
	if l.alone() == la {
		return true
	}
	left, rate := l.queue.bytes+l.uncut, 0.0
	for i := range l.lanes {
		if o := &l.lanes[i]; o.live > 0 {
			left += o.bytes + n // n: what cutting into segments costs
			rate += o.pace.rate
		}
	}
	return float64(la.bytes+n)*rate <= float64(left)*la.pace.rate
}
