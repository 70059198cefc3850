package recorder

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"thundercollective/fabric"
	"thundercollective/internal/publish"
)

// State is the state of an operation.
type State uint8

// The states.
const (
	Running State = iota
	Done
	Failed
)

var stateNames = [...]string{"running", "done", "failed"}

func (s State) String() string { return stateNames[s] }

// An Entry is one operation: the tag of its messages, and when it ran, in ticks of the
// caller's clock.
type Entry struct {
	Seq   uint64
	Tag   fabric.Tag
	Begin int64
	Took  int64 // 0 while it runs
	For   uint64
	State State
}

// A Ring holds the last operations of a group, by their number in it. One goroutine at a
// time records them; any goroutine may read them.
type Ring struct {
	last  atomic.Uint64
	mask  uint64
	lines []publish.Line
}

// The words of a line: the number of the operation, its tag, when it began, how long it
// took (with its state in the lowest bits), and the caller's value whom.
const (
	wordSeq   = 0
	wordTag   = 1
	wordBegin = 5
	wordEnd   = 6
	wordFor   = 7

	stateBits = 2
)

// NewRing returns a Ring of at least the last n operations.
func NewRing(n int) *Ring {
	size := uint64(1) << bits.Len(uint(n-1))
	return &Ring{mask: size - 1, lines: make([]publish.Line, size)}
}

func (r *Ring) at(seq uint64) *publish.Line { return &r.lines[seq&r.mask] }

// Begin records the start of operation seq, counted from 1. The meaning of whom is up to
// the caller.
func (r *Ring) Begin(seq uint64, t *fabric.Tag, now int64, whom uint64) {
	le := binary.LittleEndian
	r.at(seq).Write(&[8]uint64{
		wordSeq: seq,
		wordTag: le.Uint64(t[0:]), wordTag + 1: le.Uint64(t[8:]), wordTag + 2: le.Uint64(t[16:]), wordTag + 3: le.Uint64(t[24:]),
		wordBegin: uint64(now), wordFor: whom,
	})
	publish.Word(&r.last, seq)
}

// End records the end of operation seq.
func (r *Ring) End(seq uint64, took int64, how State) {
	if l := r.at(seq); l[wordSeq].Load() == seq {
		publish.Word(&l[wordEnd], uint64(took)<<stateBits|uint64(how))
	}
}

// Get returns operation seq, if it has begun and has not been overwritten.
func (r *Ring) Get(seq uint64) (e Entry, ok bool) {
	words, ok := r.at(seq).Read()
	if !ok || words[wordSeq] != seq {
		return e, false
	}
	end := words[wordEnd]
	e = Entry{
		Seq: seq, Begin: int64(words[wordBegin]), For: words[wordFor],
		Took: int64(end) >> stateBits, State: State(end & (1<<stateBits - 1)),
	}
	for i := range 4 {
		binary.LittleEndian.PutUint64(e.Tag[8*i:], words[wordTag+i])
	}
	return e, true
}

// Latest returns the operation that began last; the zero Entry if there is none.
func (r *Ring) Latest() Entry {
	for {
		seq := r.last.Load()
		if e, ok := r.Get(seq); ok || seq == 0 {
			return e
		}
	}
}

// Entries returns what the ring holds, oldest first.
func (r *Ring) Entries() []Entry {
	var list []Entry
	first, last := uint64(1), r.last.Load()
	if n := uint64(len(r.lines)); last > n {
		first = last - n + 1
	}
	for seq := first; seq <= last; seq++ {
		if e, ok := r.Get(seq); ok {
			list = append(list, e)
		}
	}
	return list
}
