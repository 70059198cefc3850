package rails

import (
	"time"

	"thundercollective/fabric"
)

// A segment is a part of a message: one to be sent, until it is acknowledged, or one
// that was received, until a call consumes it.
type segment struct {
	seq, off, total uint64
	tag             fabric.Tag
	buf             []byte // smallSize or segmentSize long; n bytes are used
	n               int

	// For sending. A segment may be freed once it is acknowledged and no stream is
	// writing it: the writer of a dropped stream may still hold one that is sent
	// again.
	writers   int
	acked     bool
	sentAt    time.Time
	delivered uint64  // bytes that the rail had delivered when it was sent
	avoid     *stream // has it under way already; see hedge
	hedged    bool    // there is, or was, a second copy
}

// smallSize is the buffer size of segments that hold a short message.
const smallSize = 512

// A stock keeps the segments that are not in use. It allocates several at a time, since
// the number in use varies with scheduling.
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

// A fifo is a queue of segments that reuses its memory.
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

// insert merges segments that are sent again into the queue, in the order of their
// numbers.
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
