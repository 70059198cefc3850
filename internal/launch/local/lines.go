package local

import (
	"io"
	"sync"
)

// maxLine limits how much is held back until a newline arrives. A longer line is passed on
// in pieces of this size.
const maxLine = 1 << 20

// A lineWriter passes whole lines on to w. All streams of a job share its mutex, so that
// they may share a destination.
type lineWriter struct {
	mu   *sync.Mutex
	w    io.Writer // nil: keep only the tail
	tail *Tail
	buf  []byte // an unfinished line
	err  error  // first error of w; nothing is written after it
}

// Write never fails: the rank must not block on a full pipe because its reader is gone. The
// error is kept for Run to return.
func (l *lineWriter) Write(p []byte) (int, error) {
	l.buf = append(l.buf, p...)
	if end := lastEnd(l.buf, len(l.buf)-len(p)); end > 0 {
		l.emit(l.buf[:end])
		l.buf = append(l.buf[:0], l.buf[end:]...)
	}
	if len(l.buf) >= maxLine {
		l.flush()
	}
	return len(p), nil
}

// lastEnd returns the end of the last whole line of b. No line ends before byte from. A
// carriage return, as in progress bars, also ends a line, unless a newline follows, which
// may not have arrived yet.
func lastEnd(b []byte, from int) int {
	for i := len(b) - 1; i >= max(0, from-1); i-- {
		if b[i] == '\n' || b[i] == '\r' && i+1 < len(b) {
			return i + 1
		}
	}
	return 0
}

// flush passes on an unfinished line.
func (l *lineWriter) flush() {
	if len(l.buf) > 0 {
		l.emit(l.buf)
		l.buf = l.buf[:0]
	}
}

func (l *lineWriter) emit(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail.Add(p)
	if l.w == nil || l.err != nil {
		return
	}
	_, l.err = l.w.Write(p)
}
