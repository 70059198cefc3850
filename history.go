package thunder

import (
	"sync"

	"thundercollective/fabric"
)

// remembered is how many past operations a group can compare with its peers.
const remembered = 256

// history holds the tags of a group's last collectives.
type history struct {
	mu   sync.Mutex
	last uint64
	tags [remembered]fabric.Tag
}

func (h *history) add(seq uint64, t *fabric.Tag) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = seq
	h.tags[seq%remembered] = *t
}

// get returns the tag of operation seq, if it was begun and is not long past.
func (h *history) get(seq uint64) (fabric.Tag, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if seq == 0 || seq > h.last || h.last-seq >= remembered {
		return fabric.Tag{}, false
	}
	return h.tags[seq%remembered], true
}

// latest returns the number and tag of the last operation begun.
func (h *history) latest() (uint64, fabric.Tag) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, h.tags[h.last%remembered]
}
