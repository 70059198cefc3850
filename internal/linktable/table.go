// Package linktable is what providers keep their links in: each is made on first use, and
// none after the fabric is closed.
package linktable

import (
	"fmt"
	"sync"

	"thundercollective/fabric"
)

// A Key names a link of a rank.
type Key struct {
	Peer    int
	Channel fabric.Channel
}

// A Table holds the links of a rank, or what is to become one. The zero Table is empty.
type Table[L any] struct {
	mu     sync.Mutex
	all    map[Key]L
	closed bool
}

// Get returns the entry of k. If there is none, or it is useless, it makes one with
// create, and reports that. After Close the error is fabric.ErrClosed.
func (t *Table[L]) Get(k Key, useless func(L) bool, create func() L) (l L, made bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return l, false, fabric.ErrClosed
	}
	l, ok := t.all[k]
	if ok && (useless == nil || !useless(l)) {
		return l, false, nil
	}
	l = create()
	if t.all == nil {
		t.all = map[Key]L{}
	}
	t.all[k] = l
	return l, true, nil
}

// Len counts the entries.
func (t *Table[L]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.all)
}

// All returns the entries.
func (t *Table[L]) All() []L { return t.AppendAll(nil) }

// AppendAll appends the entries to list.
func (t *Table[L]) AppendAll(list []L) []L {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.all {
		list = append(list, l)
	}
	return list
}

// Close ends the making of entries, and reports whether it was the first to do so. Those
// that there are stay.
func (t *Table[L]) Close() (first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = !t.closed
	t.closed = true
	return first
}

// CheckPeer returns an error if rank has no link to peer among size ranks.
func CheckPeer(provider string, rank, peer, size int) error {
	if peer < 0 || peer >= size || peer == rank {
		return fmt.Errorf("%s: rank %d has no link to rank %d (of %d ranks)", provider, rank, peer, size)
	}
	return nil
}
