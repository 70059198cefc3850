package local

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
)

// maxLine bounds what is held back for a newline to come. A longer line is
// passed on in pieces of this size.
const maxLine = 1 << 20

// tailLines and tailBytes bound what is kept of a rank's output for its
// ExitError.
const (
	tailLines = 20
	tailBytes = 4 << 10
)

// A lineWriter passes whole lines on to w. The mutex is shared by all streams of
// a job, so that streams may share a destination.
type lineWriter struct {
	mu   *sync.Mutex
	w    io.Writer // nil: only the tail is kept
	tail *tail
	buf  []byte // an unfinished line
	err  error  // first error of w; nothing more is written after it
}

// Write never fails: the rank must not block on a full pipe because its reader
// is gone. The error is kept for Run to report.
func (l *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	end := bytes.LastIndexByte(p, '\n') + 1
	if end > 0 {
		if len(l.buf) > 0 {
			l.buf = append(l.buf, p[:end]...)
			l.emit(l.buf)
			l.buf = l.buf[:0]
		} else {
			l.emit(p[:end])
		}
		p = p[end:]
	}
	l.buf = append(l.buf, p...)
	if len(l.buf) >= maxLine {
		l.flush()
	}
	return n, nil
}

// flush passes an unfinished line on as it is.
func (l *lineWriter) flush() {
	if len(l.buf) > 0 {
		l.emit(l.buf)
		l.buf = l.buf[:0]
	}
}

func (l *lineWriter) emit(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail.add(p)
	if l.w == nil || l.err != nil {
		return
	}
	_, l.err = l.w.Write(p)
}

// A tail keeps the last lines of both streams of a rank.
type tail struct {
	lines []string
	bytes int
}

func (t *tail) add(p []byte) {
	if cut := len(p) - tailBytes; cut > 0 {
		p = p[cut:]
	}
	for line := range bytes.Lines(p) {
		s := strings.TrimRight(string(line), "\r\n")
		t.lines = append(t.lines, s)
		t.bytes += len(s)
	}
	drop := max(0, len(t.lines)-tailLines)
	for _, s := range t.lines[:drop] {
		t.bytes -= len(s)
	}
	for t.bytes > tailBytes && drop < len(t.lines)-1 {
		t.bytes -= len(t.lines[drop])
		drop++
	}
	t.lines = slices.Delete(t.lines, 0, drop)
}
