package rdma

import (
	"context"
	"errors"
	"time"

	"thundercollective/fabric"
)

// errPeerClosed is the cause when the peer ended the link in good order.
var errPeerClosed = errors.New("peer closed its end")

// errProtocol is the cause when the peer does what this version never does.
var errProtocol = errors.New("the peer sent what makes no sense here")

// errAbandoned is why the other direction ends with an abandoned transfer.
var errAbandoned = errors.New("a transfer between registered memories was given up at this end")

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
		l.toPeer.notify()
		l.fromPeer.notify()
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

// abandon makes sure that no request of ours, and no write of the peer's, touches
// a caller's memory any more. Both directions are over after it.
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

func (l *Link) failQPs() {
	for _, ln := range l.lanes {
		ln.qp.Fail() // a queue pair that cannot fail has failed
	}
}

var byeTag = noteTag(255)

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
