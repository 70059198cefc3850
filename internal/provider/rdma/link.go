package rdma

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rdma/internal/hca"
)

// errPeerClosed is the cause when the peer ended the link in good order.
var errPeerClosed = errors.New("peer closed its end")

// errProtocol is the cause when the peer does what this version never does.
var errProtocol = errors.New("the peer sent what makes no sense here")

// Link is a path to one peer over one or more rails. It implements fabric.Link,
// fabric.Backlog and fabric.Counter.
//
// All state is guarded by mu. Whoever is in a call does the work: it polls the
// completion queues, and acts on every completion, whichever side it is for. With
// nobody in a call, an event wakes a goroutine of the rail, where that is needed.
type Link struct {
	f    *Fabric
	peer int
	boot fabric.Link // for set-up, goodbye, and to notice the peer's death
	plan *plan
	rc   bool

	mu     sync.Mutex
	rails  []*rail
	lanes  []*lane
	wcs    [32]hca.WC
	wr     hca.SendWR // the one being posted
	armed  bool       // the next completion is an event
	events bool       // there are events at all
	torn   bool       // the devices' objects are gone
	busy   int        // calls inside
	left   *sync.Cond

	err    error // why the link is over; nil while it works
	closed bool  // by us

	out         outbox
	controlFree []int
	heard       time.Time // from the peer, on unreliable devices

	toPeer   sender
	fromPeer receiver

	kick    chan struct{} // starts the ticking
	ticking bool
	stop    chan struct{} // ends run
	wg      sync.WaitGroup
	ended   chan struct{} // closed when nothing is left of the link

	sentMsgs, sentBytes, recvMsgs, recvBytes atomic.Uint64
	copied, repeats, damaged                 atomic.Uint64
}

// lost makes the error that callers get for a cause.
func (l *Link) lost(cause error) error {
	e := &fabric.LostError{Peer: l.peer, Err: cause}
	var inner *fabric.LostError
	if errors.As(cause, &inner) {
		e.Addr, e.Err = inner.Addr, inner.Err
	}
	return e
}

// lose ends the link. What has arrived can still be received. The caller holds mu.
func (l *Link) lose(cause error) {
	if l.err == nil {
		l.err = l.lost(cause)
		l.notify(&l.toPeer.side)
		l.notify(&l.fromPeer.side)
	}
}

// sever loses the link after the device said that the peer cannot be reached, or kept
// silent, and lets the peer know on the boot fabric: it may be waiting for what will
// never come, while nobody here looks at this link.
func (l *Link) sever(cause error) {
	if l.err == nil {
		l.lose(cause)
		go l.boot.Close() // not under our lock; finish waits for its end
	}
}

// enter begins a call on one side.
func (l *Link) enter() { l.busy++ }

// leave ends it. What is still to be done without a caller is provided for.
func (l *Link) leave() {
	l.busy--
	if l.closed && l.busy == 0 {
		l.left.Broadcast()
	}
	l.attend()
}

// abandon makes sure that no request of ours, and no write of the peer's, touches
// a caller's memory any more. Both directions are over after it.
func (l *Link) abandon() {
	l.lose(errAbandoned)
	l.failQPs()
	for deadline := time.Now().Add(time.Second); l.toPeer.reading > 0 && time.Now().Before(deadline); {
		l.poll(nil)
		l.mu.Unlock()
		time.Sleep(20 * time.Microsecond)
		l.mu.Lock()
	}
}

// errAbandoned is why the other direction ends with an abandoned transfer.
var errAbandoned = errors.New("a transfer between registered memories was given up at this end")

func (l *Link) failQPs() {
	for _, ln := range l.lanes {
		ln.qp.Fail() // a queue pair that cannot fail has failed
	}
}

// watch waits for the peer's goodbye, or its death, on the boot fabric. It ends
// with the link there.
func (l *Link) watch() {
	var bye [1]byte
	err := l.boot.Recv(context.Background(), byeTag, bye[:])
	if err == nil {
		err = errPeerClosed
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose(err)
}

var byeTag = noteTag(255)

// Traffic implements fabric.Counter.
func (l *Link) Traffic() fabric.Traffic {
	return fabric.Traffic{
		SentMessages: l.sentMsgs.Load(), SentBytes: l.sentBytes.Load(),
		RecvMessages: l.recvMsgs.Load(), RecvBytes: l.recvBytes.Load(),
	}
}
