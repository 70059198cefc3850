package collective

import (
	"slices"
	"sort"
)

// A rangeMap keeps a value for every element of the buffers of a schedule. What
// is known of equal ranges is kept once, so it costs as much as there are
// distinct boundaries.
type rangeMap[V any] struct {
	buf [Scratch + 1]struct {
		from []int // where each range begins; it ends where the next begins
		val  []V
	}
}

func newRangeMap[V any](initial V) *rangeMap[V] {
	m := &rangeMap[V]{}
	for i := range m.buf {
		m.buf[i].from = []int{0}
		m.buf[i].val = []V{initial}
	}
	return m
}

// over returns the values of the ranges that make up s, to read or to change.
// They stay valid until the next call.
func (m *rangeMap[V]) over(s Slice) []V {
	if s.Len == 0 {
		return nil
	}
	first := m.split(s.Buf, s.Off)
	end := m.split(s.Buf, s.End())
	return m.buf[s.Buf].val[first:end]
}

// split makes a range begin at off and returns its number.
func (m *rangeMap[V]) split(buf Buffer, off int) int {
	b := &m.buf[buf]
	i := sort.SearchInts(b.from, off)
	if i == len(b.from) || b.from[i] != off {
		b.from = slices.Insert(b.from, i, off)
		b.val = slices.Insert(b.val, i, b.val[i-1])
	}
	return i
}
