package session

import (
	"errors"
	"sync"

	"thundercollective/fabric"
)

// A peer is what this process knows of another rank.
type peer struct {
	rank int
	link fabric.Link   // control channel
	left chan struct{} // closed when it has left, well or not

	first chan error // how the first notice was received, which is awaited from the meeting on
	in    [noticeSize]byte

	sending sync.Mutex // one notice at a time
	out     [noticeSize]byte

	mu   sync.Mutex
	why  error // why it left
	seen error // what the fabric said when its connection broke
	at   map[uint32]place
}

// place is where a peer last said it was in a group.
type place struct {
	seq uint64
	tag fabric.Tag
}

func newPeer(rank int) *peer {
	return &peer{rank: rank, left: make(chan struct{}), first: make(chan error, 1), at: map[uint32]place{}}
}

// errGoodbye is why a rank left that closed its Comm in good order.
var errGoodbye = errors.New("it closed its communicator")

// leave records why a peer is gone. It reports whether that is news.
func (p *peer) leave(why error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil {
		return false
	}
	p.why = why
	close(p.left)
	return true
}

// broken returns what the fabric said when the peer's connection broke, if it did.
func (p *peer) broken() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// saw records what the fabric said when the peer's connection broke; the first counts.
func (p *peer) saw(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil {
		p.seen = err
	}
}

// where returns what the peer last said about a group.
func (p *peer) where(group uint32) (seq uint64, tag fabric.Tag, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.at[group]
	return at.seq, at.tag, ok
}

// noteWhere keeps what it says.
func (p *peer) noteWhere(group uint32, at place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at[group] = at
}
