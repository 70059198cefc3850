package local

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestLineWriter(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   []string // one Write each
		want []string // one Write each, the last by flush
		tail []string
	}{
		{"whole line", []string{"a\n"}, []string{"a\n"}, []string{"a"}},
		{"pieces", []string{"a", "b", "c\nd"}, []string{"abc\n", "d"}, []string{"abc", "d"}},
		{"several at once", []string{"a\nb\nc"}, []string{"a\nb\n", "c"}, []string{"a", "b", "c"}},
		{"empty lines", []string{"\n", "\n\nx"}, []string{"\n", "\n\n", "x"}, []string{"", "", "", "x"}},
		{"carriage return", []string{"50%\r100%\r\n"}, []string{"50%\r100%\r\n"}, []string{"100%"}},
		{"progress bar", []string{"\r10%", "\r20%", "\r30%\n"}, []string{"\r", "10%\r", "20%\r30%\n"}, []string{"", "10%", "30%"}},
		{"carriage return and newline apart", []string{"a\r", "\nb\r", "c"}, []string{"a\r\n", "b\r", "c"}, []string{"a", "b", "c"}},
		{"nothing", nil, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			tl := &Tail{}
			l := &lineWriter{mu: new(sync.Mutex), tail: tl, w: writerFunc(func(p []byte) { got = append(got, string(p)) })}
			for _, s := range tt.in {
				if n, err := l.Write([]byte(s)); n != len(s) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			l.flush()
			if !slices.Equal(got, tt.want) {
				t.Errorf("wrote %q, want %q", got, tt.want)
			}
			if !slices.Equal(tl.Lines(), tt.tail) {
				t.Errorf("tail %q, want %q", tl.Lines(), tt.tail)
			}
		})
	}
}

func TestLineWriterBounds(t *testing.T) {
	var got bytes.Buffer
	tl := &Tail{}
	l := &lineWriter{mu: new(sync.Mutex), tail: tl, w: &got}
	long := strings.Repeat("x", 3*maxLine/2)
	for p := long; p != ""; p = p[min(len(p), 1000):] {
		l.Write([]byte(p[:min(len(p), 1000)]))
		if len(l.buf) > maxLine {
			t.Fatalf("%d bytes held back", len(l.buf))
		}
	}
	l.Write([]byte("\n"))
	for range 1000 {
		l.Write([]byte("line\n"))
	}
	if want := long + "\n" + strings.Repeat("line\n", 1000); got.String() != want {
		t.Error("output differs")
	}
	if len(tl.Lines()) != tailLines {
		t.Errorf("tail has %d lines, want %d", len(tl.Lines()), tailLines)
	}
}

// A destination that fails must not stop the rank; the error is kept.
func TestLineWriterError(t *testing.T) {
	bad := errors.New("disk full")
	calls := 0
	l := &lineWriter{mu: new(sync.Mutex), tail: &Tail{}, w: failing{bad, &calls}}
	for range 3 {
		if _, err := l.Write([]byte("x\n")); err != nil {
			t.Fatal(err)
		}
	}
	if l.err != bad || calls != 1 {
		t.Errorf("error %v after %d calls, want %v after 1", l.err, calls, bad)
	}
}

type failing struct {
	err   error
	calls *int
}

func (f failing) Write([]byte) (int, error) { *f.calls++; return 0, f.err }
