package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"thundercollective/internal/bench"
)

// A progress is a line at the bottom of a terminal that shows what is being done. It prints
// nothing without a terminal, or if the work takes only a moment. Other output to the
// terminal must go through print or Write.
type progress struct {
	w     io.Writer
	color bench.Color
	start time.Time

	mu    sync.Mutex
	text  string
	drawn bool // whether the line is on the screen

	stop chan struct{}
	done chan struct{}
}

// progressDelay is how long work takes before the line appears.
const progressDelay = time.Second

// newProgress starts a progress on w. The caller must close it.
func newProgress(w io.Writer) *progress {
	return startProgress(w, isTerminal(w) && os.Getenv("TERM") != "dumb", bench.Color(colourful(w)))
}

func startProgress(w io.Writer, live bool, color bench.Color) *progress {
	p := &progress{w: w, color: color, start: time.Now(), stop: make(chan struct{}), done: make(chan struct{})}
	if live {
		go p.draw()
	} else {
		close(p.done)
	}
	return p
}

// set changes the text of the line.
func (p *progress) set(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
}

// print calls f, which may write to the same terminal, with the line removed.
func (p *progress) print(f func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	return f()
}

// Write writes b above the line.
func (p *progress) Write(b []byte) (n int, err error) {
	err = p.print(func() error {
		n, err = p.w.Write(b)
		return err
	})
	return n, err
}

func (p *progress) clear() {
	if p.drawn {
		p.drawn = false
		io.WriteString(p.w, "\r\x1b[K")
	}
}

func (p *progress) draw() {
	defer close(p.done)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		if elapsed := time.Since(p.start); elapsed > progressDelay && p.text != "" {
			p.clear()
			p.drawn = true
			io.WriteString(p.w, p.color.Dim(fmt.Sprintf("%s · %.0f s", p.text, elapsed.Seconds())))
		}
		p.mu.Unlock()
	}
}

// close removes the line.
func (p *progress) close() {
	close(p.stop)
	<-p.done
	p.clear()
}
