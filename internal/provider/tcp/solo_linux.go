package tcp

import (
	"context"
	"os"
	"sync"
	"sync/atomic"

	"thundercollective/fabric"
)

var _ fabric.Link = (*solo)(nil)

// A solo is a link of a single stream that needs no goroutine to send: what its
// user posts, and the socket does not take at once, moves on from within every call
// on links of the same channel that waits. Where ranks have hardly a processor
// each, that saves the switching between threads.
type solo struct {
	*link
	backlog *backlog
	sock    *gatedSocket

	incoming *half  // of the one stream
	outgoing []byte // where a short message is put together

	mu      sync.Mutex  // held by whoever posts, or moves the queue on
	waiting atomic.Bool // the queue is not empty
	queue   []posting   // from first on; the message under way is in side.rest…
	first   int

	left    int // how many messages may remain when Await returns
	enough  func(uintptr) bool
	flusher *flusher // if Config.Background
}

// A posting is a message that waits for room.
type posting struct {
	tag fabric.Tag
	buf []byte
}

// pushSize is how much is written at a time, so that reading gets its turn.
const pushSize = 512 << 10

// newSolo makes a solo of a link that has one data stream; nil if it has not.
func (f *Fabric) newSolo(l *link, ch fabric.Channel) fabric.Link {
	if len(l.streams) != 1 || l.recv.broken != nil {
		return nil
	}
	sock, ok := l.streams[0].sock.(*gatedSocket)
	if !ok {
		return nil
	}
	s := &solo{link: l, backlog: f.backlogs.get(ch), sock: sock, incoming: &l.streams[0].in, outgoing: make([]byte, gatherLimit)}
	s.enough = s.fewEnough
	if f.cfg.Background != nil && f.cfg.Background() {
		s.flusher = newFlusher(s)
	}
	sock.in.also, sock.out.also = s.backlog, s.backlog
	l.streams[0].push = s.backlog.push
	s.backlog.add(s)
	return s
}

// post is Post of a message that is not short, or has to wait. It gives up mu.
func (s *solo) post(tag *fabric.Tag, b []byte) (bool, error) {
	defer s.mu.Unlock()
	if err := s.usable(&s.send); err != nil {
		return false, err
	}
	if s.remaining() == 0 {
		s.load(tag, b)
		if s.write() {
			return true, nil
		}
	}
	return s.enqueue(tag, b)
}

// enqueue lets a message wait, of which something may have gone if it is the first. The
// caller holds mu.
func (s *solo) enqueue(tag *fabric.Tag, b []byte) (bool, error) {
	if s.send.broken != nil {
		return false, s.send.broken
	}
	if s.remaining() == 0 {
		s.waiting.Store(true)
		s.backlog.waiting.Add(1)
	}
	s.queue = append(s.queue, posting{*tag, b})
	if s.flusher != nil {
		s.flusher.start()
	}
	return false, nil
}

func (s *solo) remaining() int { return len(s.queue) - s.first }

// write moves the message under way on, and reports whether it is all gone. The
// caller holds mu; a failure breaks the side.
func (s *solo) write() bool {
	if !s.sock.enter(&s.sock.out) {
		s.broke(&socketError{os.ErrClosed})
		return false
	}
	s.writeOnce()
	s.sock.out.leave()
	out := &s.streams[0].out
	return s.wrote(out.n, out.err)
}

// wrote notes how much of the message under way has gone, and reports whether that is all.
func (s *solo) wrote(n int, err error) bool {
	if err != nil {
		s.broke(&socketError{err})
		return false
	}
	side := &s.send
	side.restHeader, side.restPayload = advance(side.restHeader, side.restPayload, n)
	if len(side.restHeader)+len(side.restPayload) > 0 {
		return false
	}
	side.restHeader, side.restPayload = nil, nil
	s.count(messageLength(&side.header))
	return true
}

// writeOnce is one system call.
func (s *solo) writeOnce() {
	st, side := s.streams[0], &s.send
	h := &st.out
	h.total = h.vec.set(side.restHeader, side.restPayload[:min(len(side.restPayload), pushSize)])
	h.block = false
	st.tryWrite(uintptr(s.sock.fd))
}

// broke ends the sending side.
func (s *solo) broke(err error) {
	s.end(context.Background(), &s.send, err)
	s.drop()
}

// drop gives the posted buffers back: unsent, unless the queue is empty.
func (s *solo) drop() {
	s.send.restHeader, s.send.restPayload = nil, nil
	clear(s.queue)
	s.queue, s.first = s.queue[:0], 0
	if s.waiting.Swap(false) {
		s.backlog.waiting.Add(-1)
	}
	if s.flusher != nil {
		s.flusher.notify()
	}
}

// advance moves the queue on as far as the socket takes it, and reports whether
// anything moved. The caller holds mu.
func (s *solo) advance() (moved bool) {
	for s.remaining() > 0 {
		before := len(s.send.restHeader) + len(s.send.restPayload)
		if !s.write() {
			return moved || s.remaining() > 0 && len(s.send.restHeader)+len(s.send.restPayload) < before
		}
		moved = true
		s.queue[s.first] = posting{}
		s.first++
		if s.remaining() > 0 {
			p := &s.queue[s.first]
			s.load(&p.tag, p.buf)
		}
		if s.flusher != nil {
			s.flusher.notify()
		}
	}
	s.drop() // nothing is left in it
	return moved
}

// fewEnough is what Await waits for.
func (s *solo) fewEnough(uintptr) bool {
	s.backlog.push()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.remaining() > 0 {
		s.advance()
	}
	return s.remaining() <= s.left
}

// Await implements fabric.Link.
func (s *solo) Await(ctx context.Context, left int) error {
	s.mu.Lock()
	if s.remaining() <= left {
		defer s.mu.Unlock()
		return s.send.broken
	}
	if s.flusher != nil {
		s.mu.Unlock()
		return s.flusher.await(ctx, left)
	}
	err := s.begin(ctx, &s.send)
	s.mu.Unlock()
	if err == nil {
		s.left = left
		if err = s.sock.out.pass(s.enough, false); err != nil {
			err = &socketError{err}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.send.broken != nil { // maybe found by another call that moved the queue
		s.send.watch.End()
		s.drop()
		return s.send.broken
	}
	if err = s.end(ctx, &s.send, err); err != nil {
		s.drop()
	}
	return err
}

// Close implements fabric.Link.
func (s *solo) Close() error {
	s.backlog.remove(s)
	err := s.link.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	return err
}
