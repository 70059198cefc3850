package tcp

import "thundercollective/fabric"

// StripeMin is the length from which a payload is spread over all streams.
const StripeMin = 512 << 10

// striped reports whether a payload of n bytes is spread. Both ends know n and the
// number of streams, so they agree.
func (l *link) striped(n int) bool { return n >= StripeMin && len(l.streams) > 1 }

// part returns the range of a payload of n bytes that stream i of k carries.
func part(n, i, k int) (from, to int) {
	const align = 4096 // a multiple of fabric.PieceAlign
	size := ((n+k-1)/k + align - 1) / align * align
	return min(i*size, n), min((i+1)*size, n)
}

// A worker moves parts on one stream in one direction, for as long as the link
// lives.
type worker struct {
	jobs    chan job
	done    chan error
	started bool // a part is under way; known to the side's user only
}

// A job is a part to send (buf) or to receive (into to).
type job struct {
	buf []byte
	to  sink
	off int // of the part in the payload
	n   int
}

func sendPart(s *stream, j job) error { return s.writeAll(nil, j.buf) }

func recvPart(s *stream, j job) error {
	if j.to.f == nil {
		return s.readAll(nil, j.to.buf[j.off:j.off+j.n])
	}
	s.needStage(j.n)
	return s.pieces(j.to.f, j.off, j.n, 0)
}

// sendStriped sends the header and all parts of b.
func (l *link) sendStriped(b []byte) error {
	crew := l.hire(&l.send, l.mover(sendPart, sendSummed))
	k := len(l.streams)
	for i, w := range crew {
		from, to := part(len(b), i+1, k)
		w.start(l, job{buf: b[from:to]})
	}
	_, to := part(len(b), 0, k)
	err := l.streams[0].writeAll(l.send.header[:], b[:to])
	return l.gather(&l.send, crew, err)
}

// recvStriped receives all parts of a payload of n bytes. The parts beyond the
// first are not asked for before the header has been checked.
func (l *link) recvStriped(tag *fabric.Tag, n int, to sink) error {
	crew := l.hire(&l.recv, l.mover(recvPart, recvSummed))
	k := len(l.streams)
	_, end := part(n, 0, k)
	got, err := l.recvHeader(tag, n, end, to)
	if err != nil {
		return err
	}
	for i, w := range crew {
		from, upto := part(n, i+1, k)
		w.start(l, job{to: to, off: from, n: upto - from})
	}
	return l.gather(&l.recv, crew, l.rest(to, end, got))
}

// mover picks what moves a part, with or without its sum.
func (l *link) mover(plain, summed func(*stream, job) error) func(*stream, job) error {
	if l.sums {
		return summed
	}
	return plain
}

// hire returns the side's workers, making them on first use; a link that is closed
// gets none, since Close waits for those that there are.
func (l *link) hire(s *side, move func(*stream, job) error) []*worker {
	if s.crew != nil {
		return s.crew
	}
	l.hiring.Lock()
	defer l.hiring.Unlock()
	if !l.closed.Load() {
		for _, st := range l.streams[1:] {
			w := &worker{jobs: make(chan job), done: make(chan error)}
			s.crew = append(s.crew, w)
			l.workers.Go(func() { w.run(l, s, st, move) })
		}
	}
	return s.crew
}

// hireOne starts a goroutine that lives no longer than the link, unless that is closed.
func (l *link) hireOne(run func()) bool {
	l.hiring.Lock()
	defer l.hiring.Unlock()
	if l.closed.Load() {
		return false
	}
	l.workers.Go(run)
	return true
}

func (w *worker) run(l *link, s *side, st *stream, move func(*stream, job) error) {
	for {
		select {
		case j := <-w.jobs:
			err := move(st, j)
			if err != nil {
				s.cut(err)
			}
			w.done <- err
		case <-l.quit:
			return
		}
	}
}

// start hands a part over, unless the link is closed meanwhile.
func (w *worker) start(l *link, j job) {
	select {
	case w.jobs <- j:
		w.started = true
	case <-l.quit:
	}
}

// cut ends the transfer after the first part that failed. The errors of the other parts
// are consequences of that.
func (s *side) cut(err error) {
	s.cause.CompareAndSwap(nil, &err)
	s.watch.Interrupt(err)
}

// gather waits for all parts that were started: until then the workers hold the
// caller's buffer. The first error wins.
func (l *link) gather(s *side, crew []*worker, err error) error {
	if err != nil {
		s.cut(err)
	}
	for _, w := range crew {
		e := fabric.ErrClosed
		if w.started {
			w.started = false
			e = <-w.done
		}
		if err == nil {
			err = e
		}
	}
	if cause := s.cause.Load(); cause != nil {
		err = *cause
	}
	return err
}
