package shm

import (
	"encoding/binary"

	"thundercollective/fabric"
)

// words is a tag on a board. It is copied and compared word by word, as its user has just
// written it: loads that are wider than the stores before them have to wait until those
// are in the cache.
type words [4]uint64

func (w *words) set(t *fabric.Tag) {
	le := binary.LittleEndian
	w[0], w[1], w[2], w[3] = le.Uint64(t[0:]), le.Uint64(t[8:]), le.Uint64(t[16:]), le.Uint64(t[24:])
}

func (w *words) is(t *fabric.Tag) bool {
	le := binary.LittleEndian
	return w[0] == le.Uint64(t[0:]) && w[1] == le.Uint64(t[8:]) && w[2] == le.Uint64(t[16:]) && w[3] == le.Uint64(t[24:])
}

func (w *words) get() (t fabric.Tag) {
	for i, v := range w {
		binary.LittleEndian.PutUint64(t[8*i:], v)
	}
	return t
}
