package shm

import (
	"context"
	"fmt"
	"sync/atomic"
	"unsafe"

	"thundercollective/fabric"
	"thundercollective/internal/publish"
)

const (
	// boardDepth is how many rounds a rank may be ahead of ranks that only look.
	boardDepth = 16
	// boardRoom is the longest message. All entries of a rank are to stay in the
	// second-level cache of the ranks that read them.
	boardRoom = 16 << 10
	// boardInline is the longest message that is shown with its tag, in lines that
	// follow each other; the shortest ones take only the first.
	boardInline = 336
	// boardSwapped is from how many bytes on two ranks swap (see Swap).
	boardSwapped = 81
	// boardReports is how often, in rounds, a rank reports how far it is. It has to be
	// well below boardDepth, or ranks could wait for each other.
	boardReports = 4
	// boardPolls is how often an entry is looked for before anything else is.
	boardPolls = 16
	// boardHeader is what comes before a message that is shown with its tag.
	boardHeader = int(unsafe.Offsetof(entry{}.small))
	// boardPrepared is how much of a longer message's place is fetched ahead.
	boardPrepared = 4 << 10
)

// An entry is what a rank shows in one round.
type entry struct {
	round  atomic.Uint64 // written last
	length uint64
	tag    words
	small  [boardInline]byte
	data   [boardRoom]byte
}

// page is what a rank writes to, in a segment of its own.
type page struct {
	finished atomic.Uint64 // rounds that the rank is done with
	_        [56]byte
	core     atomic.Uint64 // where the rank runs, as far as it knows; see neighbours
	_        [56]byte
	entries  [boardDepth]entry
	swap     [boardRoom]byte // see Swap
}

const pageSize = int(unsafe.Sizeof(page{}))

// A place is what a board knows of a rank. Entries are reached by pointers of their own:
// on the way through the page, Go would check that it is there, and so touch its first
// line, which its owner writes to.
type place struct {
	link     *link // nil for this rank
	finished *atomic.Uint64
	core     *atomic.Uint64
	entries  [boardDepth]*entry
	done     uint64 // rounds that the rank is known to be done with
}

func newPlace(l *link, p *page) place {
	s := place{link: l, finished: &p.finished, core: &p.core}
	for i := range s.entries {
		s.entries[i] = &p.entries[i]
	}
	return s
}

var _ fabric.Board = (*board)(nil)

// board implements fabric.Board.
type board struct {
	rank     int // this one's place in the list
	progress *progress
	links    []*link // by rank; nil for this one
	places   []place // by rank; nil until all are known
	segments []*segment

	round    uint64
	mutual   bool     // all show something in this round, and all look at all
	swapping bool     // in this round
	turn     uint64   // rounds of swapping so far
	swaps    [][]byte // where messages are swapped, by rank at first
	showed   int      // bytes in this round's entry; -1 if this rank shows nothing
	before   int      // bytes in the entry before that
	cond     boardCondition
	cores    neighbours
	side
}

// tally counts messages; one goroutine at a time does.
type tally struct{ messages, bytes atomic.Uint64 }

func (t *tally) count(n int) {
	publish.Add(&t.messages, 1)
	publish.Add(&t.bytes, uint64(n))
}

// boardCondition is met when a counter of a rank has come far enough.
type boardCondition struct {
	board   *board
	rank    int
	counter *atomic.Uint64
	least   uint64
}

func (c *boardCondition) met() bool { return c.counter.Load() >= c.least }

// Room implements fabric.Board.
func (b *board) Room() int { return boardRoom }

// Show implements fabric.Board.
func (b *board) Show(ctx context.Context, tag *fabric.Tag, p []byte) error {
	if len(p) > boardRoom {
		return fmt.Errorf("shm: message of %d bytes on a board with room for %d", len(p), boardRoom)
	}
	if b.broken != nil {
		return b.broken
	}
	for i := range b.places {
		if p := &b.places[i]; !b.caughtUp(p) {
			if err := b.await(ctx, i, p.finished, b.round-boardDepth); err != nil {
				return err
			}
		}
	}
	e := b.places[b.rank].entries[b.round%boardDepth]
	e.length = uint64(len(p))
	e.tag.set(tag)
	b.showed = len(p)
	if b.round == b.cores.parted {
		b.cores.follows = false
	}
	switch {
	case b.swapping:
		copy(b.swapped(b.rank), p)
		b.showed = 0
	case len(p) <= boardInline:
		copy(e.small[:], p)
	default:
		copy(e.data[:], p)
	}
	publish.Word(&e.round, b.round)
	for _, l := range b.links {
		if l != nil {
			l.bell.wake()
			l.shown.count(len(p))
		}
	}
	return nil
}

// Swap implements fabric.Board. Between two ranks, a longer message is written to where
// the last one that was swapped was read from: those lines are in the writer's cache. The
// rank that it came from does not need them, and nobody else has them.
func (b *board) Swap(ctx context.Context, tag *fabric.Tag, p []byte) error {
	b.mutual = true
	b.swapping = len(b.places) == 2 && len(p) >= boardSwapped
	return b.Show(ctx, tag, p)
}

// swapped returns where the message of a rank lies in a round of swapping.
func (b *board) swapped(rank int) []byte { return b.swaps[(uint64(rank)+b.turn)%2] }

// Free implements fabric.Board.
func (b *board) Free() bool {
	for i := range b.places {
		if !b.caughtUp(&b.places[i]) {
			return false
		}
	}
	return true
}

// caughtUp reports whether a rank no longer reads the entry that is to be written.
func (b *board) caughtUp(p *place) bool {
	if p.link == nil || p.done+boardDepth >= b.round {
		return true
	}
	p.done = max(p.done, p.finished.Load())
	return p.done+boardDepth >= b.round
}

// await waits until a counter of a rank has come to least.
func (b *board) await(ctx context.Context, rank int, counter *atomic.Uint64, least uint64) error {
	if err := b.begin(ctx, b.progress, false); err != nil {
		return err
	}
	if b.spin.Shared {
		b.cores.look(b)
	}
	b.cond = boardCondition{b, rank, counter, least}
	err := b.progress.wait(ctx, b.places[rank].link, &b.cond, &b.spin)
	if err != nil {
		b.broken = err
	}
	return err
}

// Look implements fabric.Board.
func (b *board) Look(ctx context.Context, rank int, tag *fabric.Tag, n int) ([]byte, error) {
	p := &b.places[rank]
	e := p.entries[b.round%boardDepth]
	if l := p.link; l != nil {
		if b.broken != nil {
			return nil, b.broken
		}
		if b.round == b.cores.parted && b.showed < 0 {
			b.cores.follows = true
		}
		if e.round.Load() >= b.round {
			if b.showed < 0 {
				// Ranks that only look fall behind: the next one may be there, too.
				publish.Prefetch(unsafe.Pointer(p.entries[(b.round+1)%boardDepth]))
			}
		} else if !b.appears(e) {
			if err := b.await(ctx, rank, &e.round, b.round); err != nil {
				return nil, err
			}
		}
		if !e.tag.is(tag) || e.length != uint64(n) || n > boardRoom {
			b.broken = &fabric.TagError{Peer: l.peer, Want: *tag, Got: e.tag.get(), WantLen: uint64(n), GotLen: e.length}
			return nil, b.broken
		}
		p.done = b.round - 1 // or it would not be here
		l.seen.count(n)
	}
	switch {
	case b.swapping:
		return b.swapped(rank)[:n:n], nil
	case n <= boardInline:
		return e.small[:n:n], nil
	}
	return e.data[:n:n], nil
}

// appears polls for an entry of this round as long as it takes to cross over from
// another core.
func (b *board) appears(e *entry) bool {
	for range boardPolls {
		if e.round.Load() >= b.round {
			return true
		}
	}
	return false
}

// Next implements fabric.Board.
func (b *board) Next() {
	b.round++
	if b.mutual && b.showed == 0 && b.spin.Shared {
		b.cores.leave(b.round)
	}
	b.mutual, b.cores.offered = false, false
	if b.showed >= 0 {
		b.prepare(max(b.showed, b.before))
		b.before, b.showed = b.showed, -1
	}
	if b.swapping {
		b.swapping = false
		b.turn++
	}
	if b.round%boardReports != 0 {
		return
	}
	publish.Word(b.places[b.rank].finished, b.round-1)
	for _, l := range b.links {
		if l != nil {
			l.bell.wake()
		}
	}
}

// prepare fetches the lines of this rank's next entry, which its readers have had, for n
// bytes: the more of the last two, as programs do different things in turn.
func (b *board) prepare(n int) {
	for i := range b.places {
		if p := &b.places[i]; p.link != nil && p.done+boardDepth < b.round {
			return // one may still be reading
		}
	}
	e := b.places[b.rank].entries[b.round%boardDepth]
	if n <= boardInline {
		publish.Prepare(unsafe.Pointer(e), boardHeader+n)
		return
	}
	publish.Prepare(unsafe.Pointer(e), boardHeader)
	publish.Prepare(unsafe.Pointer(&e.data), min(n, boardPrepared))
}

// close gives up the memory.
func (b *board) close() {
	b.forget()
	b.broken = fabric.ErrClosed
	for _, p := range b.segments {
		p.closeIfAny()
	}
	b.places, b.swaps, b.segments = nil, nil, nil
}
