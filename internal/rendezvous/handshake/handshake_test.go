package handshake

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// patience bounds tests that hang; no passing test waits for it.
const patience = 10 * time.Second

var testHello = Hello{
	Purpose: PurposeLink, Generation: 7, From: 1, To: 2, Size: 4,
	Channel: 0xdeadbeef, Stream: 3, Streams: 4,
}

func anyone(Hello) error { return nil }

// pipe returns the two ends of an in-memory connection.
func pipe(t *testing.T) (client, server net.Conn) {
	t.Helper()
	client, server = net.Pipe()
	prepare(t, client, server)
	return client, server
}

// tcp returns the two ends of a loopback connection.
func tcp(t *testing.T) (client, server net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err = net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err = ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	prepare(t, client, server)
	return client, server
}

func prepare(t *testing.T, conns ...net.Conn) {
	for _, c := range conns {
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
}

type accepted struct {
	hello Hello
	err   error
}

// acceptOn runs Accept and closes its end if that fails, as callers do.
func acceptOn(conn net.Conn, token string, admit func(Hello) error) <-chan accepted {
	ch := make(chan accepted, 1)
	go func() {
		h, err := Accept(conn, []byte(token), admit)
		if err != nil {
			conn.Close()
		}
		ch <- accepted{h, err}
	}()
	return ch
}

func dialOn(conn net.Conn, h Hello, token string) error {
	err := Dial(conn, h, []byte(token))
	if err != nil {
		conn.Close()
	}
	return err
}

var transports = map[string]func(*testing.T) (client, server net.Conn){"pipe": pipe, "tcp": tcp}

func TestAgreement(t *testing.T) {
	for name, connect := range transports {
		for _, token := range []string{"", "secret", strings.Repeat("k", 1000)} {
			t.Run(name, func(t *testing.T) {
				client, server := connect(t)
				var admitted Hello
				acc := acceptOn(server, token, func(h Hello) error { admitted = h; return nil })
				if err := dialOn(client, testHello, token); err != nil {
					t.Fatal(err)
				}
				got := <-acc
				if got.err != nil || got.hello != testHello || admitted != testHello {
					t.Fatalf("Accept = %+v, %v; admit saw %+v", got.hello, got.err, admitted)
				}
				// The stream goes on at the first byte after the handshake.
				go client.Write([]byte("ab"))
				b := make([]byte, 2)
				if _, err := io.ReadFull(server, b); err != nil || string(b) != "ab" {
					t.Fatalf("after the handshake: %q, %v", b, err)
				}
			})
		}
	}
}

func TestTokensDiffer(t *testing.T) {
	for name, connect := range transports {
		for _, tok := range [][2]string{{"a", "b"}, {"", "b"}, {"a", ""}} {
			t.Run(name, func(t *testing.T) {
				client, server := connect(t)
				acc := acceptOn(server, tok[1], func(Hello) error {
					t.Error("admit was called for a stranger")
					return nil
				})
				derr := dialOn(client, testHello, tok[0])
				aerr := (<-acc).err
				for who, c := range map[string]struct {
					err  error
					rank int
				}{"dialer": {derr, 2}, "acceptor": {aerr, 1}} {
					auth, ok := errors.AsType[*AuthError](c.err)
					if !ok || auth.Rank != c.rank || auth.Addr == "" || !strings.Contains(auth.Error(), "THUNDER_TOKEN") {
						t.Errorf("%s got %v", who, c.err)
					}
				}
			})
		}
	}
}

func TestAdmitRefuses(t *testing.T) {
	long := strings.Repeat("é", 150)
	tests := []struct {
		name  string
		admit error
		want  RejectedError
	}{
		{"typed", &RejectedError{Code: WrongSize, Text: "4 ranks here, 5 there"}, RejectedError{Code: WrongSize, Text: "4 ranks here, 5 there"}},
		{"plain", errors.New("no"), RejectedError{Code: Other, Text: "no"}},
		{"long", &RejectedError{Code: Busy, Text: long}, RejectedError{Code: Busy, Text: long[:MaxText]}},
		{"unprintable", &RejectedError{Code: DuplicateRank, Text: "a\x1b[2Jb\xff"}, RejectedError{Code: DuplicateRank, Text: "a [2Jb?"}},
		{"zero code is no ok", &RejectedError{Text: "hm"}, RejectedError{Code: Other, Text: "refused: hm"}},
		{"internal code", &RejectedError{Code: codeAuth, Text: "hm"}, RejectedError{Code: Other, Text: "refused: hm"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client, server := tcp(t)
			acc := acceptOn(server, "k", func(Hello) error { return tt.admit })
			rej, ok := errors.AsType[*RejectedError](dialOn(client, testHello, "k"))
			if !ok || *rej != tt.want {
				t.Errorf("dialer got %+v, want %+v", rej, tt.want)
			}
			if err := (<-acc).err; !errors.Is(err, tt.admit) {
				t.Errorf("acceptor got %v", err)
			}
		})
	}
}

func TestSilentPeer(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			client, server := connect(t)
			past := time.Now().Add(-time.Second)
			client.SetDeadline(past)
			server.SetDeadline(past)
			if err := Dial(client, testHello, nil); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("Dial = %v", err)
			}
			if _, err := Accept(server, nil, anyone); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("Accept = %v", err)
			}
		})
	}
}

// TestTruncated cuts the bytes of each end of a good session at every position: the
// other end must fail.
func TestTruncated(t *testing.T) {
	clientBytes, serverBytes := helloSize+proofSize, challengeSize+verdictSize
	for n := range clientBytes {
		client, server := pipe(t)
		acc := acceptOn(server, "k", anyone)
		if err := dialOn(&cutWriter{Conn: client, left: n}, testHello, "k"); err == nil {
			t.Fatalf("dialer cut after %d bytes: Dial succeeded", n)
		}
		if err := (<-acc).err; !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("dialer cut after %d bytes: Accept = %v", n, err)
		} else if errors.Is(err, ErrNoHello) != (n < headSize) {
			t.Fatalf("dialer cut after %d bytes: Accept = %v", n, err)
		}
	}
	for n := range serverBytes {
		client, server := pipe(t)
		acc := acceptOn(&cutWriter{Conn: server, left: n}, "k", anyone)
		if err := dialOn(client, testHello, "k"); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("acceptor cut after %d bytes: Dial = %v", n, err)
		}
		if err := (<-acc).err; err == nil {
			t.Fatalf("acceptor cut after %d bytes: Accept succeeded", n)
		}
	}
}

// A cutWriter hangs up after left bytes were written.
type cutWriter struct {
	net.Conn
	left int
}

func (c *cutWriter) Write(b []byte) (int, error) {
	if len(b) <= c.left {
		c.left -= len(b)
		return c.Conn.Write(b)
	}
	n, _ := c.Conn.Write(b[:c.left])
	c.left = 0
	c.Close()
	return n, io.ErrClosedPipe
}

// A patcher applies change to everything written whose length is size.
type patcher struct {
	net.Conn
	size   int
	change func([]byte)
}

func (p *patcher) Write(b []byte) (int, error) {
	if len(b) == p.size {
		b = bytes.Clone(b)
		p.change(b)
	}
	return p.Conn.Write(b)
}

func TestOtherVersion(t *testing.T) {
	for name, connect := range transports {
		t.Run(name, func(t *testing.T) {
			client, server := connect(t)
			acc := acceptOn(server, "k", anyone)
			old := &patcher{client, helloSize, func(b []byte) { b[9] = 9 }}
			// Only the hello is of version 9; to the dialer the answer, an empty
			// challenge of version 1, looks like one of its own kind, and it must
			// not believe it.
			derr := dialOn(old, testHello, "k")
			if _, ok := errors.AsType[*AuthError](derr); !ok {
				t.Errorf("Dial = %v", derr)
			}
			aerr := (<-acc).err
			perr, ok := errors.AsType[*ProtocolError](aerr)
			if !ok || perr.Version != 9 || !strings.Contains(aerr.Error(), "version 9") {
				t.Errorf("Accept = %v", aerr)
			}
		})
	}
	t.Run("dialer", func(t *testing.T) {
		client, server := pipe(t)
		acc := acceptOn(&patcher{server, challengeSize, func(b []byte) { b[9] = 9 }}, "k", anyone)
		err := dialOn(client, testHello, "k")
		perr, ok := errors.AsType[*ProtocolError](err)
		if !ok || perr.Version != 9 || perr.Addr == "" {
			t.Errorf("Dial = %v", err)
		}
		if err := (<-acc).err; err == nil {
			t.Error("Accept succeeded")
		}
	})
}

// TestStrangers connects to other programs.
func TestStrangers(t *testing.T) {
	for _, says := range []string{"S", "SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "\x00\x00", "\xf4thundex", "\x15\x03\x01\x00\x02\x02\x16"} {
		t.Run(says, func(t *testing.T) {
			client, server := tcp(t)
			go server.Write([]byte(says)) // and stays connected
			err := Dial(client, testHello, nil)
			perr, ok := errors.AsType[*ProtocolError](err)
			if !ok || perr.Addr != client.RemoteAddr().String() || !strings.Contains(err.Error(), "another program") {
				t.Errorf("Dial = %v", err)
			}

			client, server = tcp(t)
			go client.Write([]byte(says))
			_, err = Accept(server, nil, anyone)
			if _, ok := errors.AsType[*ProtocolError](err); !ok {
				t.Errorf("Accept = %v", err)
			}
		})
	}
}
