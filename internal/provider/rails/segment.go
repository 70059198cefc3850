package rails

import (
	"time"

	"thundercollective/fabric"
)

// A segment is a part of a message: on its way out until it is acknowledged, or on
// its way in until it is consumed.
type segment struct {
	seq, off, total uint64
	tag             fabric.Tag
	buf             []byte // of the size class; n of it are used
	n               int

	// On the way out. A segment may be freed once it is acknowledged and no
	// stream is writing it any more; one that is sent again may be in the hands of
	// a dead stream for a moment.
	writers   int
	acked     bool
	sentAt    time.Time
	delivered uint64  // by the rail, when it was sent
	avoid     *stream // that has it under way already; see hedge
	hedged    bool    // there is, or was, a second copy
}

// smallSize is the size of the buffers for what is not a full segment.
const smallSize = 512

// A stock keeps the segments that are not in use. It makes new ones several at a
// time: how many are in use depends on the mood of the scheduler.
type stock struct {
	small, large []*segment
}

// get returns a segment for n bytes.
func (s *stock) get(n int) *segment {
	list, size, batch := &s.large, segmentSize, 4
	if n <= smallSize {
		list, size, batch = &s.small, smallSize, maxSegments
	}
	if len(*list) == 0 {
		segs, bufs := make([]segment, batch), make([]byte, batch*size)
		for i := range segs {
			segs[i].buf = bufs[i*size : (i+1)*size : (i+1)*size]
			*list = append(*list, &segs[i])
		}
	}
	k := len(*list) - 1
	seg := (*list)[k]
	*list = (*list)[:k]
	seg.n, seg.acked, seg.writers, seg.avoid, seg.hedged = n, false, 0, nil, false
	return seg
}

func (s *stock) put(seg *segment) {
	if len(seg.buf) == smallSize {
		s.small = append(s.small, seg)
	} else {
		s.large = append(s.large, seg)
	}
}

// A fifo is a queue of segments that keeps its memory.
type fifo struct {
	segs  []*segment
	head  int
	bytes int // of payload
}

func (q *fifo) len() int { return len(q.segs) - q.head }

func (q *fifo) all() []*segment { return q.segs[q.head:] }

func (q *fifo) front() *segment { return q.segs[q.head] }

func (q *fifo) push(s *segment) {
	if q.head > 0 && len(q.segs) == cap(q.segs) {
		n := copy(q.segs, q.segs[q.head:])
		clear(q.segs[n:])
		q.segs, q.head = q.segs[:n], 0
	}
	q.segs = append(q.segs, s)
	q.bytes += s.n
}

func (q *fifo) pop() *segment {
	s := q.segs[q.head]
	q.segs[q.head] = nil
	q.head++
	q.bytes -= s.n
	if q.head == len(q.segs) {
		q.segs, q.head = q.segs[:0], 0
	}
	return s
}

// insert puts segments back in the order of their numbers: those that are sent
// again come before what has not been sent.
func (q *fifo) insert(again []*segment) {
	for _, s := range again {
		q.bytes += s.n
	}
	old := q.segs[q.head:]
	merged := make([]*segment, 0, len(old)+len(again)+maxSegments)
	for len(old) > 0 || len(again) > 0 {
		if len(again) == 0 || len(old) > 0 && old[0].seq < again[0].seq {
			merged, old = append(merged, old[0]), old[1:]
		} else {
			merged, again = append(merged, again[0]), again[1:]
		}
	}
	q.segs, q.head = merged, 0
}
