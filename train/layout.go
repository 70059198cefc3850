package train

import "fmt"

// A layout assigns tensors to buckets, in reverse order of registration, because the
// backward pass finishes them in that order.
type layout struct {
	tensors []slot
	buckets []int // length of each in elements
	members []int // number of tensors in each
}

// A slot is the position of a tensor.
type slot struct {
	bucket      int
	offset, len int
}

// newLayout fills buckets until they hold at least limit elements.
func newLayout(lens []int, limit int) (*layout, error) {
	l := &layout{tensors: make([]slot, len(lens))}
	open := false
	for i := len(lens) - 1; i >= 0; i-- {
		if lens[i] < 0 {
			return nil, fmt.Errorf("train: length %[2]d of tensor %[1]d is negative", i, lens[i])
		}
		if !open {
			l.buckets, l.members = append(l.buckets, 0), append(l.members, 0)
		}
		b := len(l.buckets) - 1
		l.tensors[i] = slot{bucket: b, offset: l.buckets[b], len: lens[i]}
		l.buckets[b] += lens[i]
		l.members[b]++
		open = l.buckets[b] < limit
	}
	return l, nil
}
