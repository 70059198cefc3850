package main

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// A standardOutput is standard output. It remembers the first write error, so that no verb
// succeeds whose output was lost.
type standardOutput struct {
	file *os.File
	mu   sync.Mutex
	err  error
}

func (s *standardOutput) Write(b []byte) (int, error) {
	n, err := s.file.Write(b)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.err == nil {
			s.err = err
		}
	}
	return n, err
}

// fileOf returns the file that w writes to, or nil.
func fileOf(w io.Writer) *os.File {
	switch w := w.(type) {
	case *os.File:
		return w
	case *standardOutput:
		return w.file
	}
	return nil
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f := fileOf(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// terminalWidth returns the number of characters in a line of the terminal w, or 0 if w is
// not a terminal.
func terminalWidth(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	width, _, err := term.GetSize(int(fileOf(w).Fd()))
	if err != nil {
		return 0
	}
	return width
}

// colourful reports whether w may receive colours: it is a terminal that supports them, and
// the user has not disabled them (https://no-color.org).
func colourful(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
