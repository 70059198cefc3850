package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	c := NewConn(&b, &b)
	hello := Hello{Protocol: Protocol, Version: "v1", Host: "a", Addrs: []Addr{{IP: "10.0.0.1", Interface: "en0"}}}
	long := bytes.Repeat([]byte("x"), maxFrame)
	for _, err := range []error{
		c.Send(KindHello, 0, hello),
		c.SendData(KindStdout, 70000, []byte("line\n")),
		c.SendData(KindStderr, 1, long),
		c.Send(KindTerminate, 0, nil),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := c.SendData(KindStdout, 0, append(long, 'x')); err == nil {
		t.Error("sent a frame that is too long")
	}
	f, err := c.Next()
	var got Hello
	if err != nil || f.Decode(&got) != nil || !reflect.DeepEqual(got, hello) {
		t.Errorf("got %+v, %v", got, err)
	}
	if f, err = c.Next(); err != nil || f.Kind != KindStdout || f.Rank != 70000 || string(f.Data) != "line\n" {
		t.Errorf("got %+v, %v", f, err)
	}
	if f, err = c.Next(); err != nil || f.Rank != 1 || !bytes.Equal(f.Data, long) {
		t.Errorf("got %d bytes, %v", len(f.Data), err)
	}
	if f, err = c.Next(); err != nil || f.Kind != KindTerminate || len(f.Data) != 0 {
		t.Errorf("got %+v, %v", f, err)
	}
	if _, err = c.Next(); err != io.EOF {
		t.Errorf("got %v, want EOF", err)
	}
}

func TestCutAndOversizedFrames(t *testing.T) {
	var b bytes.Buffer
	NewConn(nil, &b).SendData(KindStdout, 0, []byte("line\n"))
	for n := range b.Len() {
		if _, err := NewConn(bytes.NewReader(b.Bytes()[:n]), nil).Next(); err != io.EOF {
			t.Errorf("%d bytes: got %v, want EOF", n, err)
		}
	}
	h := make([]byte, headerSize)
	binary.BigEndian.PutUint32(h[5:], maxFrame+1)
	if _, err := NewConn(bytes.NewReader(h), nil).Next(); err == nil || err == io.EOF {
		t.Errorf("oversized frame: got %v", err)
	}
}

func TestGreeting(t *testing.T) {
	for _, tt := range []struct {
		name, noise string
		greets      bool
	}{
		{"quiet shell", "", true},
		{"message of the day", "Welcome!\nToday is Monday\n", true},
		{"without a newline", "Welcome! ", true},
		{"long", strings.Repeat("noise ", 20000), true},
		{"command not found", "sh: thunder: not found\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			b.WriteString(tt.noise)
			c := NewConn(&b, &b)
			if tt.greets {
				c.Greet()
				c.Send(KindPing, 0, nil)
			}
			skipped, err := c.AwaitGreeting()
			if !strings.HasSuffix(tt.noise, string(skipped)) || tt.noise != "" && len(skipped) == 0 {
				t.Errorf("skipped %q", skipped)
			}
			if !tt.greets {
				if !errors.Is(err, ErrNoPreamble) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if f, err := c.Next(); err != nil || f.Kind != KindPing {
				t.Errorf("got %+v, %v", f, err)
			}
		})
	}
	if _, err := NewConn(neverEnding{}, nil).AwaitGreeting(); !errors.Is(err, ErrNoPreamble) {
		t.Errorf("endless noise: got %v", err)
	}
}

type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) { return len(p), nil }
