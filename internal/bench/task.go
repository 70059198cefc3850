package bench

import (
	"context"
	"math"

	thunder "thundercollective"
	"thundercollective/internal/crc32c"
)

// A task is one mode at one size on one rank: its buffers, their content before and after
// an iteration, and the operations of an iteration.
type task struct {
	steps  []*thunder.Request // none if this rank does nothing
	inputs []region           // to send or reduce
	blank  []byte             // to receive into
	want   []region           // the correct result
	result []byte             // what the checksum covers
	dtype  thunder.DType
	// inPlace is set if the operation replaces its operands by its result.
	inPlace bool
}

// A region is memory that holds a pattern, beginning with the pattern's element start.
type region struct {
	buf   []byte
	p     pattern
	start int
}

// A memory holds the buffers for all sizes, allocated once.
type memory struct{ send, recv []byte }

// memory allocates the buffers of a run. The function it returns frees them.
func (c Config) memory(comm *thunder.Comm, send, recv int64) (*memory, func(), error) {
	if !c.Alloc {
		return &memory{make([]byte, send), make([]byte, recv)}, func() {}, nil
	}
	m := &memory{}
	free := func() {
		for _, b := range [][]byte{m.send, m.recv} {
			if b != nil {
				comm.Free(b)
			}
		}
	}
	for _, want := range []struct {
		to *[]byte
		n  int64
	}{{&m.send, send}, {&m.recv, recv}} {
		if want.n == 0 {
			continue
		}
		b, err := comm.Alloc(int(want.n))
		if err != nil {
			free()
			return nil, nil, err
		}
		*want.to = b
	}
	return m, free, nil
}

// need returns how many bytes a rank sends from and receives into.
func (c Config) need(rank, ranks int, s shape) (send, recv int64) {
	switch c.Mode {
	case SendRecv:
		return s.bytes, s.bytes
	case PingPong:
		switch pair := pairOf(rank, ranks); {
		case ranks == 1 || pair > rank:
			return s.bytes, s.bytes
		case pair < 0:
			return 0, 0
		}
		return 0, s.bytes
	}
	sends, recvs := c.Mode.kind().Buffers(s.count, ranks, rank, c.Root)
	size := int64(c.DType.Size())
	return int64(sends) * size, int64(recvs) * size
}

// Memory returns how many bytes of buffers all ranks of a run need together.
func (c Config) Memory(ranks int) int64 {
	c.fill()
	var total int64
	if c.Mode == Matrix {
		if ranks > 1 {
			total = 4 * c.Max // one pair at a time, both ways
		}
		return total
	}
	shapes := c.shapes(ranks)
	for rank := range ranks {
		send, recv := c.need(rank, ranks, shapes[len(shapes)-1])
		total += send + recv
	}
	return total
}

// movedBy returns what a rank sends in modes without a reduction.
func (c Config) movedBy(rank int) pattern {
	return newPattern(c.DType, func(i int) int64 { return moved(c.DType, rank, i) })
}

// pairOf returns the partner of a rank in PingPong, or -1 if it has none.
func pairOf(rank, ranks int) int {
	if pair := rank ^ 1; pair < ranks {
		return pair
	}
	return -1
}

// newTask returns the task of one rank. It does not write to the memory.
func newTask(c Config, rank, ranks int, s shape, m *memory) *task {
	sends, recvs := c.need(rank, ranks, s)
	send, recv := m.send[:sends:sends], m.recv[:recvs:recvs]
	t := &task{dtype: c.DType, result: recv}
	request := thunder.Request{Kind: c.Mode.kind(), DType: c.DType, Algo: c.Algo, Root: c.Root, Send: send, Recv: recv}
	mine := func() pattern {
		return newPattern(c.DType, func(i int) int64 { return contributed(c.DType, c.Op, ranks, rank, i) })
	}
	sum := func() pattern {
		return newPattern(c.DType, func(i int) int64 { return reduced(c.DType, c.Op, ranks, i) })
	}
	// gathered expects a block from every rank, each starting with that element of its
	// pattern.
	gathered := func(start int) {
		block := s.count * c.DType.Size()
		for r := range ranks {
			t.want = append(t.want, region{recv[r*block : (r+1)*block], c.movedBy(r), start})
		}
	}
	switch c.Mode {
	case AllReduce, Reduce:
		request.Op, request.Send = c.Op, nil
		t.inPlace = true
		t.inputs = []region{{recv, mine(), 0}}
		t.want = []region{{recv, sum(), 0}}
		if c.Mode == Reduce && rank != c.Root {
			// Only the root has a result; the other buffers do not change.
			t.want, t.result = t.inputs, nil
		}
	case ReduceScatter:
		request.Op = c.Op
		t.inputs, t.blank = []region{{send, mine(), 0}}, recv
		t.want = []region{{recv, sum(), rank * s.count}}
	case Broadcast:
		request.Send = nil
		t.want = []region{{recv, c.movedBy(c.Root), 0}}
		if rank == c.Root {
			t.inputs = t.want
		} else {
			t.blank = recv
		}
	case AllGather:
		t.inputs, t.blank = []region{{send, c.movedBy(rank), 0}}, recv
		gathered(0)
	case Gather:
		t.inputs, t.blank = []region{{send, c.movedBy(rank), 0}}, recv
		if rank == c.Root {
			gathered(0)
		}
	case Scatter:
		t.inputs, t.blank = []region{{send, c.movedBy(rank), 0}}, recv
		t.want = []region{{recv, c.movedBy(c.Root), rank * s.count}}
	case AllToAll:
		t.inputs, t.blank = []region{{send, c.movedBy(rank), 0}}, recv
		gathered(rank * s.count)
	case SendRecv:
		before := (rank + ranks - 1) % ranks
		request.Kind, request.Algo, request.Root, request.From = thunder.KindSendRecv, thunder.Auto, (rank+1)%ranks, before
		t.inputs, t.blank = []region{{send, c.movedBy(rank), 0}}, recv
		t.want = []region{{recv, c.movedBy(before), 0}}
	case PingPong:
		t.pingPong(c, rank, ranks, send, recv)
		return t
	}
	t.steps = []*thunder.Request{&request}
	return t
}

// pingPong sets up a message there and back. The lower rank of a pair begins; the higher
// one sends back what it received.
func (t *task) pingPong(c Config, rank, ranks int, send, recv []byte) {
	pair := pairOf(rank, ranks)
	there := &thunder.Request{Kind: thunder.KindSend, DType: c.DType, Root: pair, Send: send}
	back := &thunder.Request{Kind: thunder.KindRecv, DType: c.DType, Root: pair, Recv: recv}
	switch {
	case ranks == 1:
		t.steps = []*thunder.Request{{Kind: thunder.KindSendRecv, DType: c.DType, Send: send, Recv: recv}}
	case pair < 0:
		return
	case rank < pair:
		t.steps = []*thunder.Request{there, back}
	default:
		there.Send = recv
		t.steps = []*thunder.Request{back, there}
	}
	begins := rank
	if pair >= 0 {
		begins = min(rank, pair)
	}
	if begins == rank {
		t.inputs = []region{{send, c.movedBy(rank), 0}}
	}
	t.blank = recv
	t.want = []region{{recv, c.movedBy(begins), 0}}
}

// prepare fills the buffers for an iteration.
func (t *task) prepare() {
	poison(t.blank)
	for _, r := range t.inputs {
		r.p.fill(r.buf, r.start)
	}
}

// step performs one iteration.
func (t *task) step(ctx context.Context, comm *thunder.Comm) error {
	for _, r := range t.steps {
		if err := comm.Do(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// wrong returns the number of wrong elements in the result.
func (t *task) wrong() int64 {
	var n int64
	for _, r := range t.want {
		n += r.p.wrong(r.buf, r.start)
	}
	return n
}

// checksum returns the checksum of the result, zero for ranks without one.
func (t *task) checksum() uint32 {
	return crc32c.Sum(t.result)
}

// value returns the first element of the result, or nil if there is none or JSON cannot
// represent it.
func (t *task) value() *float64 {
	if len(t.result) == 0 {
		return nil
	}
	v := decode(t.dtype, t.result)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
