package check

import "thundercollective/internal/collective"

// fill sets the contribution of a rank; everything else stays undefined.
func (m *machine) fill(s *collective.Spec) {
	me := &m.ranks[s.Rank]
	mem, off := me.memory[collective.Main], 0
	n := len(mem)
	if s.Separate {
		mem = me.memory[collective.Input]
		n = len(mem)
	} else {
		isRoot := s.Rank == s.Root
		switch s.Kind {
		case collective.AllGather:
			off, n = block(s, s.Rank)
		case collective.Gather:
			if isRoot {
				off, n = block(s, s.Rank)
			}
		case collective.Broadcast, collective.Scatter:
			if !isRoot {
				n = 0
			}
		case collective.Recv:
			n = 0
		}
	}
	for i := range n {
		mem[off+i] = m.u.leaf(s.Rank, i)
	}
}

// A want is what one element of a result should be.
type want struct {
	what what
	rank int
	pos  int
}

type what uint8

const (
	anything  what = iota
	same           // as before
	element        // pos of what rank contributed
	reduction      // of element pos over all ranks
)

// wanted returns what each element of Main should be on rank r. It states the
// meaning of the operations in the plainest way.
func wanted(specs []collective.Spec, r int) func(i int) want {
	s := &specs[r]
	isRoot := s.Rank == s.Root
	switch s.Kind {
	case collective.AllReduce:
		return func(i int) want { return want{what: reduction, pos: i} }
	case collective.Reduce:
		if isRoot {
			return func(i int) want { return want{what: reduction, pos: i} }
		}
	case collective.ReduceScatter:
		off, n := block(s, r)
		if s.Separate {
			return func(i int) want { return want{what: reduction, pos: off + i} }
		}
		return func(i int) want {
			if i < off || i >= off+n {
				return want{}
			}
			return want{what: reduction, pos: i}
		}
	case collective.AllGather:
		return func(i int) want { return blockElement(s, i) }
	case collective.Gather:
		if isRoot {
			return func(i int) want { return blockElement(s, i) }
		}
	case collective.Broadcast:
		return func(i int) want { return want{what: element, rank: s.Root, pos: i} }
	case collective.Scatter:
		if !isRoot || s.Separate {
			off, _ := block(&specs[s.Root], r)
			return func(i int) want { return want{what: element, rank: s.Root, pos: off + i} }
		}
	case collective.AllToAll:
		return func(i int) want {
			recv := *s
			if s.RecvCounts != nil {
				recv.Counts = s.RecvCounts
			}
			w := blockElement(&recv, i)
			off, _ := block(&specs[w.rank], r)
			w.pos += off
			return w
		}
	case collective.Recv:
		return func(i int) want { return want{what: element, rank: s.Root, pos: i} }
	case collective.SendRecv:
		return func(i int) want { return want{what: element, rank: s.From, pos: i} }
	}
	return func(int) want { return want{what: same} }
}

// block returns where the block of rank p lies.
func block(s *collective.Spec, p int) (off, n int) {
	if s.Counts == nil {
		return p * s.Count, s.Count
	}
	for _, c := range s.Counts[:p] {
		off += c
	}
	return off, s.Counts[p]
}

// blockElement says which rank's block element i of all blocks belongs to.
func blockElement(s *collective.Spec, i int) want {
	p := 0
	for {
		off, n := block(s, p)
		if i < off+n {
			return want{what: element, rank: p, pos: i - off}
		}
		p++
	}
}
