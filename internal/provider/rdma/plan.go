package rdma

import (
	"fmt"
	"math/bits"

	"thundercollective/internal/provider/rdma/internal/hca"
)

const (
	maxRails = 4

	// Reliable devices: slots hold a round number of payload bytes.
	smallRC       = 8 << 10
	smallWindowRC = 32
	bulkRC        = 64 << 10
	bulkWindow    = 8
	// directQueue is the number of writes to the peer's memory that may be
	// under way on a rail beside those that come from slots.
	directQueue = 32

	// Devices without: slots are whole frames, header included, and few, as
	// the depth of a queue counts frames.
	frameUC      = 4096
	smallDepthUC = 32
	bulkUC       = 16 * frameUC
	// bulkSpareUC receives take copies of messages that were not lost.
	bulkSpareUC = 2
	// fragments is the number of small slots up to which a message is sent
	// in those: a bulk slot has to be sent whole.
	fragmentsUC = 4

	// controlSlots bounds the control messages that wait for their completion.
	controlSlots = 8
)

// A plan is what both ends of a link agree on. Each end computes it from both
// offers, and gets the same.
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
	window int // data messages that may be sent without a grant
	spare  int // receives for what needs no grant
}

func (s laneShape) payload() int { return s.size - headerSize }

// A railPair joins a rail of the lower rank with one of the higher.
type railPair struct{ low, high int }

// newPlan agrees on what two offers allow. Offers that cannot be reconciled, or
// devices too small for anything, are an error.
func newPlan(low, high *offer) (*plan, error) {
	p := &plan{rc: true, sge: 2}
	n := min(len(low.Rails), len(high.Rails))
	if n == 0 {
		return nil, fmt.Errorf("no device at one end")
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
		return nil, fmt.Errorf("the device's queues hold %d entries, %d are needed", depth, need)
	}
	return p, nil
}

// Receives beyond the window of the small lane take the control messages, which
// are sent without a grant. How many can be unanswered at once is bounded, since
// each reports something that happens a bounded number of times before the peer
// has read it: per lane, the sender's quota of data messages is used up in
// quarters; and the address of a receive buffer is told once per message, of
// which no more than the bulk windows hold can pass meanwhile. A few more cover
// requests and answers, of which one at a time is open.
func (p *plan) shapeRC(rails int) {
	p.eager = smallRC
	p.small = laneShape{headerSize + smallRC, smallWindowRC, 5*(1+rails) + bulkWindow*rails + 4}
	p.bulk = laneShape{headerSize + bulkRC, bulkWindow, 0}
}

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

// smallQueue is the number of receives of the small lane.
func (p *plan) smallQueue() int { return p.small.window + p.small.spare }

// sendSize is the number of bytes to send for a slot with n bytes of payload: a
// SEND has to cover as many frames as the RECV it will meet.
func (p *plan) sendSize(s laneShape, n int) int {
	if p.frame == 0 {
		return headerSize + n
	}
	return max(headerSize+n, (s.size-1)/p.frame*p.frame+1)
}

// frames is the number of queue entries that n bytes take.
func (p *plan) frames(n int) int { return hca.Limits{FrameSize: p.frame}.Frames(n) }

// pairRails chooses n pairs of rails: those that are in the same small subnet
// first, as the ends of a cable are, then those of equal position. Rows that name
// the cables in different orders are thereby set right.
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

// nearness grades two addresses: 2 if they share a /30, 1 if they share a /24.
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
