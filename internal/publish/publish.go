package publish

import "sync/atomic"

// A Line is eight words that are written together. The first identifies the others and
// is 0 while they change: if a reader finds the same value in it before and after reading
// the others, they were written together.
type Line [8]atomic.Uint64

// Read copies the line, and reports whether it was written and the words belong together.
func (l *Line) Read() (words [8]uint64, ok bool) {
	words[0] = l[0].Load()
	for i := 1; i < len(l); i++ {
		words[i] = l[i].Load()
	}
	return words, words[0] != 0 && l[0].Load() == words[0]
}
