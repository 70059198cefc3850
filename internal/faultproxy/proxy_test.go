package faultproxy

import (
	"io"
	"net"
	"testing"
	"time"
)

// echo starts a server that sends back what it receives.
func echo(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.Close() }()
		}
	}()
	return ln.Addr().String()
}

func TestFaults(t *testing.T) {
	p, err := New(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	say := func(text string) string {
		t.Helper()
		if _, err := c.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, len(text))
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.ReadFull(c, b); err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := say("plain"); got != "plain" {
		t.Errorf("got %q", got)
	}
	p.Set(Back, Fault{Delay: 30 * time.Millisecond})
	begun := time.Now()
	if got := say("late"); got != "late" || time.Since(begun) < 30*time.Millisecond {
		t.Errorf("got %q after %v", got, time.Since(begun))
	}
	p.Set(Back, Fault{})
	p.Set(There, Fault{Corrupt: true})
	if got := say("wrong"); got != "wr\x7fng" {
		t.Errorf("got %q", got)
	}
	p.Set(There, Fault{Silent: true})
	time.AfterFunc(30*time.Millisecond, func() { p.Set(There, Fault{}) })
	begun = time.Now()
	if got := say("held"); got != "held" || time.Since(begun) < 30*time.Millisecond {
		t.Errorf("got %q after %v", got, time.Since(begun))
	}
	p.Reset()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("nothing after a reset")
	}
}

// TestLastWords has a server say something and close its connection, while the client
// still sends: what it said arrives, though it is late and nothing can be sent any more.
func TestLastWords(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		io.ReadFull(c, make([]byte, 1))
		c.Write([]byte("farewell"))
		c.Close()
	}()
	p, err := New(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Set(Back, Fault{Delay: 200 * time.Millisecond})
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() {
		for {
			if _, err := c.Write(make([]byte, 1)); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if got, _ := io.ReadAll(c); string(got) != "farewell" {
		t.Errorf("got %q", got)
	}
}
