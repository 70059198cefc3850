package rdma

import (
	"context"
	"errors"
	"time"

	"thundercollective/fabric"
)

// errPeerClosed is the cause when the peer closed the link.
var errPeerClosed = errors.New("peer closed its end")

// errProtocol is the cause when the peer violates the protocol.
var errProtocol = errors.New("the peer violated the protocol")

// errAbandoned is the cause in the other direction when a transfer is abandoned.
var errAbandoned = errors.New("this end gave up a transfer between registered memories")

// lost returns the error that callers get for a cause.
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
		l.toPeer.notify()
		l.fromPeer.notify()
	}
}

// sever loses the link when the device reports that the peer cannot be reached, or when
// the peer is silent. It tells the peer over the boot fabric, since the peer may be
// waiting for a message that will never arrive.
func (l *Link) sever(cause error) {
	if l.err == nil {
		l.lose(cause)
		go l.boot.Close() // not under mu; finish closes it again and waits
	}
}

// abandon ensures that no request of this end, and no write of the peer, touches a
// caller's memory after it returns. It ends both directions.
func (l *Link) abandon() {
	l.lose(errAbandoned)
	l.failQPs()
	for deadline := time.Now().Add(time.Second); l.toPeer.reading > 0 && time.Now().Before(deadline); {
		l.engine.poll(nil)
		l.mu.Unlock()
		time.Sleep(20 * time.Microsecond)
		l.mu.Lock()
	}
}

// failQPs moves all queue pairs to the error state.
func (l *Link) failQPs() {
	for _, ln := range l.lanes {
		ln.qp.Fail() // an error means that it has failed already
	}
}

var byeTag = noteTag(255)

// watch waits for the peer's goodbye, or its death, on the boot fabric. It returns when
// the boot link is closed.
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
