package membership

import (
	"encoding/binary"
	"math/bits"
)

// Max is the maximum size of a group.
const Max = 1024

// A Set is a set of ranks of a group. It is comparable.
type Set [Max / 64]uint64

// SetOf returns the set of some ranks.
func SetOf(ranks ...int) (s Set) {
	for _, r := range ranks {
		s.Add(r)
	}
	return s
}

// Add adds a rank.
func (s *Set) Add(rank int) { s[rank/64] |= 1 << (rank % 64) }

// Has reports whether a rank is in the set.
func (s *Set) Has(rank int) bool { return s[rank/64]&(1<<(rank%64)) != 0 }

// Len returns the number of ranks.
func (s *Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Ranks lists the ranks in order.
func (s *Set) Ranks() []int {
	var list []int
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			list = append(list, 64*i+bits.TrailingZeros64(w))
		}
	}
	return list
}

// Quorum reports whether the set is a quorum of a group of size ranks: more than half, or
// exactly half including rank 0. Any two quorums have a rank in common.
func (s *Set) Quorum(size int) bool {
	n := 2 * s.Len()
	return n > size || n == size && s.Has(0)
}

// Within reports whether all ranks of the set are below size.
func (s *Set) Within(size int) bool {
	ranks := s.Ranks()
	return len(ranks) == 0 || ranks[len(ranks)-1] < size
}

// Bytes encodes the set for a message.
func (s *Set) Bytes() []byte {
	b := make([]byte, 0, Max/8)
	for _, w := range s {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// SetFrom decodes the result of Bytes. Missing bytes count as 0.
func SetFrom(b []byte) (s Set) {
	for i := 0; i < len(s) && len(b) >= 8*(i+1); i++ {
		s[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return s
}
