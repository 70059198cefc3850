package tcp_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/crc32c"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/rendezvous/handshake"
)

// listeners opens n listeners on loopback and returns them with their addresses.
func listeners(t *testing.T, n int) (lns []*tcp.Listener, peers [][]string) {
	t.Helper()
	for range n {
		ln, err := tcp.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		lns = append(lns, ln)
		peers = append(peers, ln.Addrs())
	}
	return lns, peers
}

func newFabric(t *testing.T, ln *tcp.Listener, cfg tcp.Config) *tcp.Fabric {
	t.Helper()
	f, err := tcp.New(ln, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestWrongToken(t *testing.T) {
	lns, peers := listeners(t, 2)
	f0 := newFabric(t, lns[0], tcp.Config{Rank: 0, Peers: peers, Token: []byte("right")})
	f1 := newFabric(t, lns[1], tcp.Config{Rank: 1, Peers: peers, Token: []byte("wrong")})
	_, err := f1.Link(t.Context(), 0, 1)
	var auth *handshake.AuthError
	if !errors.As(err, &auth) || auth.Rank != 0 {
		t.Errorf("dialler: got %v, want an AuthError about rank 0", err)
	}
	// The other side only waits; its error tells what came instead, once it has
	// seen the connection end.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for deadline := time.Now().Add(10 * time.Second); ; {
		_, err := f0.Link(ctx, 1, 1)
		if err != nil && strings.Contains(err.Error(), "token") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("acceptor: got %v, want the refused connection mentioned", err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  func(c *tcp.Config)
		code handshake.Code
		want string
	}{
		{"world size", func(c *tcp.Config) { c.Peers = append(c.Peers, []string{"127.0.0.1:1"}) }, handshake.WrongSize, "world size 2, rank 1 with 3"},
		{"generation", func(c *tcp.Config) { c.Generation = 7 }, handshake.WrongGeneration, "of generation 0, rank 1 of 7"},
		{"swapped addresses", func(c *tcp.Config) {
			c.Peers = [][]string{c.Peers[0], c.Peers[0], c.Peers[1]}
			c.Rank = 2
		}, handshake.WrongSize, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lns, peers := listeners(t, 2)
			newFabric(t, lns[0], tcp.Config{Rank: 0, Peers: peers})
			cfg := tcp.Config{Rank: 1, Peers: append([][]string(nil), peers...)}
			tt.cfg(&cfg)
			f1 := newFabric(t, lns[1], cfg)
			_, err := f1.Link(t.Context(), 0, 1)
			var rejected *handshake.RejectedError
			if !errors.As(err, &rejected) || rejected.Code != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want a refusal with %q", err, tt.want)
			}
		})
	}
}

func TestDuplicateRank(t *testing.T) {
	lns, peers := listeners(t, 2)
	f0 := newFabric(t, lns[0], tcp.Config{Rank: 0, Peers: peers})
	f1 := newFabric(t, lns[1], tcp.Config{Rank: 1, Peers: peers})
	a, b := connect(t, f0, f1, 1)
	ln, err := tcp.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	impostor := newFabric(t, ln, tcp.Config{Rank: 1, Peers: peers})
	_, err = impostor.Link(t.Context(), 0, 1)
	var rejected *handshake.RejectedError
	if !errors.As(err, &rejected) || rejected.Code != handshake.DuplicateRank {
		t.Errorf("got %v, want DuplicateRank", err)
	}
	echo(t, a, b)
}

// connect opens a link between two fabrics from both ends.
func connect(t *testing.T, f, g fabric.Fabric, ch fabric.Channel) (a, b fabric.Link) {
	t.Helper()
	var wg sync.WaitGroup
	var errA, errB error
	wg.Go(func() { a, errA = f.Link(t.Context(), g.Rank(), ch) })
	wg.Go(func() { b, errB = g.Link(t.Context(), f.Rank(), ch) })
	wg.Wait()
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	return a, b
}

// echo proves that a link works, small and striped.
func echo(t *testing.T, a, b fabric.Link) {
	t.Helper()
	tag := &fabric.Tag{1}
	for _, n := range []int{8, 2 * tcp.StripeMin} {
		out, in := bytes.Repeat([]byte{7}, n), make([]byte, n)
		sent := make(chan error, 1)
		go func() { sent <- fabric.Send(t.Context(), a, tag, out) }()
		if err := errors.Join(b.Recv(t.Context(), tag, in), <-sent); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(in, out) {
			t.Fatal("content differs")
		}
	}
}

// TestStrangers lets strangers come in numbers while a job works, with little
// patience for them, and then opens one more link.
func TestStrangers(t *testing.T) {
	lns, peers := listeners(t, 2)
	cfg := tcp.Config{Peers: peers, Token: []byte("t"), HandshakeTimeout: time.Second}
	f0 := newFabric(t, lns[0], cfg)
	cfg.Rank = 1
	f1 := newFabric(t, lns[1], cfg)
	a, b := connect(t, f0, f1, 1)

	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for i := range 300 { // more than may be in the handshake
		c, err := net.Dial("tcp", peers[0][0])
		if err != nil {
			continue // turned away at once: there were too many before it
		}
		conns = append(conns, c)
		switch i % 3 {
		case 0: // says nothing
		case 1:
			c.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
		case 2:
			c.Write(bytes.Repeat([]byte{0xff}, 4096))
		}
	}
	echo(t, a, b)
	a2, b2 := connect(t, f0, f1, 2)
	echo(t, a2, b2)
}

// TestAbsurdLength has an authenticated peer announce more than anybody has.
func TestAbsurdLength(t *testing.T) {
	lns, peers := listeners(t, 2)
	f0 := newFabric(t, lns[0], tcp.Config{Rank: 0, Peers: peers})
	c, err := net.Dial("tcp", peers[0][0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := handshake.Dial(c, handshake.Hello{Purpose: handshake.PurposeLink, From: 1, Size: 2, Channel: 1, Streams: 1}, nil); err != nil {
		t.Fatal(err)
	}
	l, err := f0.Link(t.Context(), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, fabric.TagSize+16)
	for i := range 8 {
		frame[fabric.TagSize+i] = 0xff
	}
	end := len(frame) - 4
	binary.LittleEndian.PutUint32(frame[end:], crc32c.Sum(frame[:end]))
	if _, err := c.Write(frame); err != nil {
		t.Fatal(err)
	}
	err = l.Recv(t.Context(), &fabric.Tag{}, make([]byte, 64))
	var te *fabric.TagError
	if !errors.As(err, &te) || te.GotLen != 1<<64-1 {
		t.Errorf("got %v, want a TagError with the absurd length", err)
	}
}

func TestListenErrors(t *testing.T) {
	ln, err := tcp.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for addr, want := range map[string]string{
		ln.Addrs()[0]:     "in use",
		"192.0.2.77:4000": "no interface",
		"127.0.0.1":       "missing port",
	} {
		if l, err := tcp.Listen(addr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("listen on %s: got %v, want %q", addr, err, want)
			if l != nil {
				l.Close()
			}
		}
	}
	if _, err := tcp.Listen(); err == nil {
		t.Error("listening on nothing works")
	}
}

func TestUnreachable(t *testing.T) {
	lns, peers := listeners(t, 2)
	addr := peers[0][0]
	lns[0].Close() // nobody is there
	f1 := newFabric(t, lns[1], tcp.Config{Rank: 1, Peers: peers})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := f1.Link(ctx, 0, 1)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
	if !strings.Contains(err.Error(), "rank 0 at "+addr) {
		t.Errorf("error does not name the rank at %s: %v", addr, err)
	}
}

func TestConfigErrors(t *testing.T) {
	for name, cfg := range map[string]tcp.Config{
		"no ranks":   {},
		"rank":       {Rank: 2, Peers: [][]string{{"a:1"}, {"b:1"}}},
		"streams":    {Peers: [][]string{{"a:1"}, {"b:1"}}, Streams: tcp.MaxStreams + 1},
		"no address": {Peers: [][]string{{"a:1"}, {}}},
	} {
		ln, err := tcp.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if f, err := tcp.New(ln, cfg); err == nil {
			t.Errorf("%s: accepted", name)
			f.Close()
		}
	}
}

// TestVerdictLost has the connection break, or hang, between the peer's verdict and its
// arrival: the peer takes the link for made. That is a lost link, not a rank started
// twice.
func TestVerdictLost(t *testing.T) {
	t.Run("broken", func(t *testing.T) { loseVerdict(t, false) })
	t.Run("hanging", func(t *testing.T) { loseVerdict(t, true) })
}

func loseVerdict(t *testing.T, hang bool) {
	lns, peers := listeners(t, 2)
	f0 := newFabric(t, lns[0], tcp.Config{Rank: 0, Peers: peers, Streams: 1})
	// In front of rank 0: passes a whole handshake on, except for the verdict, once.
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	go func() {
		for first := true; ; first = false {
			near, err := front.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", peers[0][0])
			if err != nil {
				return
			}
			defer far.Close()
			go io.Copy(far, near)
			if first {
				io.CopyN(near, far, 76) // the challenge
				if _, err := f0.Link(t.Context(), 1, 1); err != nil {
					t.Error(err)
				}
				if !hang {
					near.(*net.TCPConn).SetLinger(0)
					near.Close()
				}
				continue
			}
			go io.Copy(near, far)
		}
	}()
	f1 := newFabric(t, lns[1], tcp.Config{
		Rank: 1, Peers: [][]string{{front.Addr().String()}, peers[1]}, Streams: 1, HandshakeTimeout: 2 * time.Second,
	})
	_, err = f1.Link(t.Context(), 0, 1)
	if lost, ok := errors.AsType[*fabric.LostError](err); !ok || lost.Peer != 0 {
		t.Errorf("got %v, want rank 0 lost", err)
	}
}
