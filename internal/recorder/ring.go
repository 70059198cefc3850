package recorder

import (
	"time"

	"thundercollective/fabric"
)

// State says how far an operation got.
type State uint8

// The states.
const (
	Running State = iota
	Done
	Failed
)

var stateNames = [...]string{"running", "done", "failed"}

func (s State) String() string { return stateNames[s] }

// An Entry is one operation: the tag of its messages, and when it ran.
type Entry struct {
	Seq   uint64
	Tag   fabric.Tag
	Begin time.Duration
	Took  time.Duration
	State State
}

// A Ring holds the last operations of a group, by their number in it. Its user has a
// lock around it anyway, so it has none.
type Ring struct {
	last    uint64
	entries []Entry
}

// NewRing returns a Ring of the last n operations.
func NewRing(n int) *Ring { return &Ring{entries: make([]Entry, n)} }

func (r *Ring) at(seq uint64) *Entry { return &r.entries[seq%uint64(len(r.entries))] }

// Begin notes that operation seq, counted from 1, begins.
func (r *Ring) Begin(seq uint64, t *fabric.Tag, now time.Duration) {
	r.last = seq
	*r.at(seq) = Entry{Seq: seq, Tag: *t, Begin: now}
}

// End notes that it is over.
func (r *Ring) End(seq uint64, now time.Duration, how State) {
	if e := r.at(seq); e.Seq == seq {
		e.Took, e.State = now-e.Begin, how
	}
}

// Get returns the tag of operation seq, if it was begun and is not long past.
func (r *Ring) Get(seq uint64) (fabric.Tag, bool) {
	if e := r.at(seq); seq != 0 && e.Seq == seq {
		return e.Tag, true
	}
	return fabric.Tag{}, false
}

// Latest returns the number and tag of the last operation begun.
func (r *Ring) Latest() (uint64, fabric.Tag) {
	return r.last, r.at(r.last).Tag
}

// Entries returns what the ring holds, oldest first.
func (r *Ring) Entries() []Entry {
	var list []Entry
	first := uint64(1)
	if n := uint64(len(r.entries)); r.last > n {
		first = r.last - n + 1
	}
	for seq := first; seq <= r.last; seq++ {
		if e := r.at(seq); e.Seq == seq {
			list = append(list, *e)
		}
	}
	return list
}
