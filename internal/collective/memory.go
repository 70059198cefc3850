package collective

import "thundercollective/fabric"

// memory is the fabric's shared memory as the ranks of a group use it.
type memory struct {
	sharer fabric.Sharer
	reader fabric.Reader // nil if the ranks cannot read each other's memory
	ranks  []int         // ranks of the fabric, by rank in the group
}

// newMemory returns the memory that the ranks share.
func newMemory(s *Shared) (m memory) {
	m.sharer, m.ranks = s.Memory, s.Ranks
	if s.Reads {
		m.reader = s.Memory.(fabric.Reader)
	}
	return m
}

// name returns the handle of b, and whether peers can map what it names; otherwise they
// can read it. The handle is zero if they can do neither.
func (m *memory) name(b []byte) (h fabric.Handle, mapped bool) {
	if h, ok := m.sharer.Share(b); ok {
		return h, true
	}
	if m.reader != nil {
		h, _ = m.reader.Locate(b)
	}
	return h, false
}

// reach maps the n bytes that a rank of the group has named.
func (m *memory) reach(rank int, h fabric.Handle, n int) ([]byte, error) {
	return m.sharer.Reach(m.ranks[rank], h, n)
}

// read fills b with what lies off bytes into the memory that a rank of the group has named.
func (m *memory) read(rank int, h fabric.Handle, off int, b []byte) error {
	return m.reader.Read(m.ranks[rank], h, off, b)
}
