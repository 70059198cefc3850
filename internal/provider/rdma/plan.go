package rdma

import (
	"fmt"
	"math/bits"

	"thundercollective/internal/provider/rdma/internal/hca"
)

const (
	maxRails = 4

	// Reliable devices: the payload of a slot is a round number of bytes.
	smallRC       = 8 << 10
	smallWindowRC = 32
	bulkRC        = 64 << 10
	bulkWindow    = 8
	// directQueue is the number of writes to the peer's memory that may be
	// under way on a rail in addition to those from slots.
	directQueue = 32

	// Unreliable devices: slots are whole frames, including the header, and few,
	// since the depth of a queue counts frames.
	frameUC      = 4096
	smallDepthUC = 32
	bulkUC       = 16 * frameUC
	// bulkSpareUC is the number of receives for repeats of messages that were not
	// lost.
	bulkSpareUC = 2
	// fragmentsUC is the number of small slots up to which a message is sent in
	// them: a bulk slot is always sent whole.
	fragmentsUC = 4

	// controlSlots bounds the control messages that wait for their completion.
	controlSlots = 8
)

// A plan is what both ends of a link agree on. Each end computes the same plan from both
// offers.
type plan struct {
	rc    bool
	frame int // hca.Limits.FrameSize
	sge   int // pieces of memory per request
	eager int // payload up to which a message is sent in small slots
	small laneShape
	bulk  laneShape
	pairs []railPair // by rail
}

// A laneShape is the geometry of one queue pair's buffers.
type laneShape struct {
	size   int // bytes of a slot with its header
	window int // data messages that may be under way
	spare  int // receives for messages that need no grant
}

func (s laneShape) payload() int { return s.size - headerSize }

// A railPair pairs a rail of the lower rank with one of the higher.
type railPair struct{ low, high int }

// newPlan returns the plan for two offers. It is an error if they have no device in
// common, or if a device's limits are too small.
func newPlan(low, high *offer) (*plan, error) {
	p := &plan{rc: true, sge: 2}
	n := min(len(low.Rails), len(high.Rails))
	if n == 0 {
		return nil, fmt.Errorf("one end has no device")
	}
	if low.Any || high.Any {
		n = 1
	}
	p.pairs = pairRails(low.Rails, high.Rails, n)
	depth, message := 1<<30, int64(1<<62)
	for _, pr := range p.pairs {
		for _, r := range []railOffer{low.Rails[pr.low], high.Rails[pr.high]} {
			p.rc = p.rc && r.RC
			p.frame = max(p.frame, r.Frame)
			p.sge = min(p.sge, r.SGE)
			depth = min(depth, r.Depth)
			message = min(message, r.Message)
		}
	}
	if p.rc {
		p.shapeRC(n)
	} else {
		p.shapeUC(n, depth, message)
	}
	if need := p.smallQueue() + controlSlots; need > depth {
		return nil, fmt.Errorf("the device's queues have %d entries, %d are needed", depth, need)
	}
	return p, nil
}

// shapeRC sets the shapes for reliable devices.
//
// The spare receives of the small lane are for control messages, which are sent without
// a grant. The number under way is bounded, since each reports something that happens a
// bounded number of times before the peer has read it: per lane, one for each quarter of
// the window; and one advert per message, of which no more can pass in the meantime than
// the bulk windows hold. A few more are for requests and answers, of which one is open
// at a time.
func (p *plan) shapeRC(rails int) {
	p.eager = smallRC
	p.small = laneShape{headerSize + smallRC, smallWindowRC, 5*(1+rails) + bulkWindow*rails + 4}
	p.bulk = laneShape{headerSize + bulkRC, bulkWindow, 0}
}

// shapeUC sets the shapes for unreliable devices.
func (p *plan) shapeUC(rails, depth int, message int64) {
	p.small.size = frameUC
	p.small.spare = 5*(1+rails) + 4
	p.small.window = max(8, smallDepthUC-p.small.spare)
	p.eager = fragmentsUC * p.small.payload()
	size := int(min(bulkUC, message))
	if p.frame > 0 {
		size = min(size, depth/(bulkWindow+bulkSpareUC)*frameUC)
	}
	p.bulk = laneShape{max(frameUC, size&^(frameUC-1)), bulkWindow, bulkSpareUC}
}

// smallQueue returns the number of receives of the small lane.
func (p *plan) smallQueue() int { return p.small.window + p.small.spare }

// sendSize returns the number of bytes to send for a slot with n bytes of payload: a
// SEND has to cover as many frames as its RECV.
func (p *plan) sendSize(s laneShape, n int) int {
	if p.frame == 0 {
		return headerSize + n
	}
	return max(headerSize+n, (s.size-1)/p.frame*p.frame+1)
}

// frames returns the number of queue entries that n bytes take.
func (p *plan) frames(n int) int { return hca.Limits{FrameSize: p.frame}.Frames(n) }

// pairRails chooses n pairs of rails: first those in the same small subnet, as the ends
// of a cable are, then those with the same index. So the ranks may list their cables in
// different orders.
func pairRails(low, high []railOffer, n int) []railPair {
	usedLow, usedHigh := map[int]bool{}, map[int]bool{}
	pairs := make([]railPair, 0, n)
	for len(pairs) < n {
		best, found := railPair{}, false
		for i := range low {
			for j := range high {
				if usedLow[i] || usedHigh[j] {
					continue
				}
				p := railPair{i, j}
				if !found || p.better(best, low, high) {
					best, found = p, true
				}
			}
		}
		usedLow[best.low], usedHigh[best.high] = true, true
		pairs = append(pairs, best)
	}
	return pairs
}

// better reports whether p is more likely to be a cable than q.
func (p railPair) better(q railPair, low, high []railOffer) bool {
	sp, sq := nearness(low[p.low].GID, high[p.high].GID), nearness(low[q.low].GID, high[q.high].GID)
	if sp != sq {
		return sp > sq
	}
	return abs(p.low-p.high) < abs(q.low-q.high)
}

// nearness returns 2 if two addresses share a /30, 1 if they share a /24, and else 0.
func nearness(a, b gidText) int {
	common := 0
	for i := range a {
		if x := a[i] ^ b[i]; x != 0 {
			common += bits.LeadingZeros8(x)
			break
		}
		common += 8
	}
	switch {
	case common >= 96+30:
		return 2
	case common >= 96+24:
		return 1
	}
	return 0
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
