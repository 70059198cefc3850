package shm

import (
	"context"
	"fmt"
	"sync/atomic"
	"unsafe"

	"thundercollective/fabric"
	"thundercollective/fabric/internal/spin"
)

const (
	// boardDepth is how many rounds a rank may be ahead of those who only look.
	boardDepth = 8
	// boardRoom is the longest message. All entries of a rank are to stay in the
	// first-level cache of those who read them.
	boardRoom = 16 << 10
	// boardInline is the longest message that is shown with its tag, in a pair of
	// cache lines; the shortest ones take only the first.
	boardInline = 80
	// boardReports is how often, in rounds, a rank says how far it is. It has to be
	// well below boardDepth, or ranks could wait for each other.
	boardReports = 4
)

// An entry is what a rank shows in one round.
type entry struct {
	round  atomic.Uint64 // written last
	length uint64
	tag    fabric.Tag
	small  [boardInline]byte
	data   [boardRoom]byte
}

// page is what a rank writes to, in a segment of its own.
type page struct {
	finished atomic.Uint64 // rounds that the rank is done with
	_        [120]byte
	entries  [boardDepth]entry
}

const pageSize = int(unsafe.Sizeof(page{}))

// board implements fabric.Board.
type board struct {
	rank     int // this one's place in the list
	hub      *hub
	links    []*link // by rank; nil for this one
	pages    []*page
	segments []*segment
	finished []uint64 // by rank: rounds that it is known to be done with

	round uint64
	cond  boardCondition
	side
}

// boardCondition is met when a counter has come far enough.
type boardCondition struct {
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
	if err := b.begin(ctx, b.hub, false); err != nil {
		return err
	}
	for i := range b.links {
		if !b.caughtUp(i) {
			if err := b.await(ctx, i, &b.pages[i].finished, b.round-boardDepth); err != nil {
				return err
			}
		}
	}
	e := &b.pages[b.rank].entries[b.round%boardDepth]
	e.length, e.tag = uint64(len(p)), *tag
	if len(p) <= boardInline {
		copy(e.small[:], p)
	} else {
		copy(e.data[:], p)
	}
	e.round.Store(b.round)
	for _, l := range b.links {
		if l != nil {
			l.bell.wake()
			l.out.count(len(p))
		}
	}
	return nil
}

// Free implements fabric.Board.
func (b *board) Free() bool {
	for i := range b.links {
		if !b.caughtUp(i) {
			return false
		}
	}
	return true
}

// caughtUp says whether a rank no longer reads the entry that is to be written.
func (b *board) caughtUp(rank int) bool {
	if b.links[rank] == nil || b.finished[rank]+boardDepth >= b.round {
		return true
	}
	b.finished[rank] = max(b.finished[rank], b.pages[rank].finished.Load())
	return b.finished[rank]+boardDepth >= b.round
}

// await waits until a counter of a rank has come to least.
func (b *board) await(ctx context.Context, rank int, counter *atomic.Uint64, least uint64) error {
	b.cond = boardCondition{counter, least}
	err := b.hub.wait(ctx, b.links[rank], &b.cond, &b.spin)
	if err != nil {
		b.broken = err
	}
	return err
}

// Look implements fabric.Board.
func (b *board) Look(ctx context.Context, rank int, tag *fabric.Tag, n int) ([]byte, error) {
	e := &b.pages[rank].entries[b.round%boardDepth]
	if l := b.links[rank]; l != nil {
		if err := b.begin(ctx, b.hub, false); err != nil {
			return nil, err
		}
		if e.round.Load() < b.round {
			if err := b.await(ctx, rank, &e.round, b.round); err != nil {
				return nil, err
			}
		}
		if e.tag != *tag || e.length != uint64(n) || n > boardRoom {
			b.broken = &fabric.TagError{Peer: l.peer, Want: *tag, Got: e.tag, WantLen: uint64(n), GotLen: e.length}
			return nil, b.broken
		}
		b.finished[rank] = b.round - 1 // or it would not be here
		l.in.count(n)
	}
	if n <= boardInline {
		return e.small[:n:n], nil
	}
	return e.data[:n:n], nil
}

// Next implements fabric.Board.
func (b *board) Next() {
	b.round++
	if b.round%boardReports != 0 {
		return
	}
	b.pages[b.rank].finished.Store(b.round - 1)
	for _, l := range b.links {
		if l != nil {
			l.bell.wake()
		}
	}
}

// Close implements fabric.Board.
func (b *board) Close() error {
	b.forget()
	b.broken = fabric.ErrClosed
	for _, s := range b.segments {
		s.closeIfAny()
	}
	b.pages, b.segments = nil, nil
	return nil
}

// Board implements fabric.Boarder.
func (f *Fabric) Board(ctx context.Context, ch fabric.Channel, ranks []int) (fabric.Board, error) {
	b := &board{
		hub: f.hub(ch), round: 1,
		links: make([]*link, len(ranks)), pages: make([]*page, len(ranks)),
		segments: make([]*segment, len(ranks)), finished: make([]uint64, len(ranks)),
	}
	b.spin = spin.Spinner{Budget: f.cfg.Spin, Shared: f.cfg.Crowded}
	trouble, err := f.hang(ctx, b, ch, ranks)
	if err != nil || trouble != nil {
		b.Close()
		if err == nil {
			f.cfg.Logger.Debug("no board", "why", trouble)
		}
		return nil, err
	}
	for i, s := range b.segments {
		b.pages[i] = (*page)(unsafe.Pointer(unsafe.SliceData(s.body())))
	}
	return b, nil
}
