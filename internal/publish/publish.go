package publish

import "sync/atomic"

// A Line is eight words that are written together. The first says what the others are,
// and is 0 while they change: a reader that finds it the same before and after it has
// read the others has read what was written together.
type Line [8]atomic.Uint64

// Read copies the line, and says whether it was written together and at all.
func (l *Line) Read() (words [8]uint64, ok bool) {
	words[0] = l[0].Load()
	for i := 1; i < len(l); i++ {
		words[i] = l[i].Load()
	}
	return words, words[0] != 0 && l[0].Load() == words[0]
}
