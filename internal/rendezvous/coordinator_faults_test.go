package rendezvous

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"thundercollective/internal/rendezvous/handshake"
)

// TestStrangers has a healthy job start while others connect that stay silent, send
// garbage, another purpose, a rank out of range or absurd lengths, or hang up.
func TestStrangers(t *testing.T) {
	bubble(t, 2, func(t *testing.T, j *job) {
		srv := j.serve(t.Context(), 0)
		r1 := j.join(t.Context(), 1, 0)
		time.Sleep(time.Second)

		j.connect()
		j.connect().Close()
		go j.connect().Write([]byte("GET / HTTP/1.1\r\n\r\n"))

		hello := handshake.Hello{Purpose: handshake.PurposeJoin, Size: 2}
		link, range9 := hello, hello
		link.Purpose = handshake.PurposeLink
		range9.From = 9
		for _, h := range []handshake.Hello{link, range9} {
			if _, ok := errors.AsType[*handshake.RejectedError](handshake.Dial(j.connect(), h, []byte("k"))); !ok {
				t.Errorf("%+v was not rejected", h)
			}
		}
		for _, says := range []string{"\x01\xff\xff\xff\xff", "\x01\x00\x00\x00\x02{}", "\x01\x00\x00\x00\x01{", "\x07\x00\x00\x00\x00", "\x01\x00"} {
			conn := j.connect()
			if err := handshake.Dial(conn, hello, []byte("k")); err != nil {
				t.Errorf("before %q: %v", says, err)
			}
			go conn.Write([]byte(says))
			io.Copy(io.Discard, conn) // until the coordinator hangs up
		}
		j.wantRosters(j.join(t.Context(), 0, 0), r1)
		if err := (<-srv).err; err != nil {
			t.Error(err)
		}
	})
}

// TestFlood fills the coordinator with silent connections, over and over: none has
// to time out for a rank to get in.
func TestFlood(t *testing.T) {
	bubble(t, 2, func(t *testing.T, j *job) {
		srv := j.serve(t.Context(), 0)
		synctest.Wait()
		for range 3 * minPending {
			j.connect()
		}
		start := time.Now()
		j.wantRosters(j.join(t.Context(), 0, 0), j.join(t.Context(), 1, 0))
		if waited := time.Since(start); waited != 0 {
			t.Errorf("ranks had to wait %v", waited)
		}
		if err := (<-srv).err; err != nil {
			t.Error(err)
		}
	})
}

func TestNoCoordinator(t *testing.T) {
	bubble(t, 2, func(t *testing.T, j *job) {
		start := time.Now()
		got := <-j.join(t.Context(), 1, 0)
		uerr, ok := errors.AsType[*UnreachableError](got.err)
		if !ok || !errors.Is(got.err, errRefused) || uerr.Waited != time.Minute {
			t.Errorf("got %v", got.err)
		}
		if waited := time.Since(start); waited > time.Minute || waited < time.Minute-lastRetry {
			t.Errorf("gave up after %v", waited)
		}
	})
}

// TestSilentCoordinator has a program at the coordinator's address that accepts
// connections and sends nothing.
func TestSilentCoordinator(t *testing.T) {
	bubble(t, 2, func(t *testing.T, j *job) {
		ln := j.net.listen()
		go func() {
			for {
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				go io.Copy(io.Discard, conn)
			}
		}()
		start := time.Now()
		got := <-j.join(t.Context(), 1, 0)
		if _, ok := errors.AsType[*UnreachableError](got.err); !ok || time.Since(start) > time.Minute {
			t.Errorf("after %v: %v", time.Since(start), got.err)
		}
		ln.Close()
	})
}

// TestCoordinatorComesBack loses the coordinator after a rank has registered.
func TestCoordinatorComesBack(t *testing.T) {
	bubble(t, 1, func(t *testing.T, j *job) {
		ln := j.net.listen()
		r0 := j.join(t.Context(), 0, 0)
		conn, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := handshake.Accept(conn, []byte("k"), func(handshake.Hello) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if kind, _, err := readFrame(conn); err != nil || kind != frameRegister {
			t.Fatalf("kind %d, %v", kind, err)
		}
		conn.Close()
		ln.Close()
		srv := j.serve(t.Context(), 10*time.Second)
		j.wantRosters(r0)
		if err := (<-srv).err; err != nil {
			t.Error(err)
		}
	})
}

// TestBadCoordinator has a coordinator that knows the token and sends nonsense.
func TestBadCoordinator(t *testing.T) {
	for _, says := range []string{
		"\x02\xff\xff\xff\xff", "\x09\x00\x00\x00\x00", "\x02\x00\x00\x00\x01{", "\x02\x00\x00\x00\x02{}",
		"\x03\x00\x00\x00\x01{", "\x04\x00\x00\x00\x01{", "\x05\x00\x00\x00\x01{",
	} {
		bubble(t, 1, func(t *testing.T, j *job) {
			ln := j.net.listen()
			r0 := j.join(t.Context(), 0, 0)
			conn, err := ln.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := handshake.Accept(conn, []byte("k"), func(handshake.Hello) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if _, _, err := readFrame(conn); err != nil {
				t.Fatal(err)
			}
			go conn.Write([]byte(says))
			if got := <-r0; got.err == nil || !strings.Contains(got.err.Error(), "malformed frame") {
				t.Errorf("%q: %v", says, got.err)
			}
		})
	}
}

func TestStopped(t *testing.T) {
	bubble(t, 2, func(t *testing.T, j *job) {
		ctx, cancel := context.WithCancelCause(t.Context())
		srv := j.serve(ctx, 0)
		r1 := j.join(t.Context(), 1, time.Second)
		time.Sleep(2 * time.Second)
		j.connect()
		why := errors.New("the launcher\x1b was interrupted")
		cancel(why)
		if err := (<-srv).err; !errors.Is(err, why) {
			t.Errorf("Serve: %v", err)
		}
		got := <-r1
		if got.err == nil || !strings.Contains(got.err.Error(), "coordinator stopped: the launcher  was interrupted") {
			t.Errorf("rank 1: %v", got.err)
		}
	})
}

func TestJoinCancelled(t *testing.T) {
	why := errors.New("enough")
	for _, serving := range []bool{false, true} {
		bubble(t, 2, func(t *testing.T, j *job) {
			sctx, stop := context.WithCancel(t.Context())
			if serving {
				srv := j.serve(sctx, 0)
				defer func() { <-srv }()
			}
			defer stop()
			ctx, cancel := context.WithCancelCause(t.Context())
			r1 := j.join(ctx, 1, 0)
			time.Sleep(time.Second)
			cancel(why)
			start := time.Now()
			if got := <-r1; !errors.Is(got.err, why) || time.Since(start) != 0 {
				t.Errorf("after %v: %v", time.Since(start), got.err)
			}
		})
	}
}

func TestBadJoinAndServe(t *testing.T) {
	bubble(t, 2, func(t *testing.T, j *job) {
		srv := j.serve(t.Context(), 0)
		synctest.Wait()
		local := errors.New("no port left")
		for name, change := range map[string]func(*JoinConfig){
			"coordinator":  func(c *JoinConfig) { c.Coordinator = "h" },
			"size":         func(c *JoinConfig) { c.Size = 0 },
			"rank":         func(c *JoinConfig) { c.Rank = 2 },
			"timeout":      func(c *JoinConfig) { c.Timeout = -1 },
			"no addresses": func(c *JoinConfig) { c.Addrs = nil },
			"bad address":  func(c *JoinConfig) { c.Addrs = []string{"10.0.0.1"} },
			"no address":   func(c *JoinConfig) { c.Addrs = []string{"a b"} },
			"listen":       func(c *JoinConfig) { c.Listen = func(string) ([]string, error) { return nil, local } },
		} {
			start := time.Now()
			got := <-j.join(t.Context(), 1, 0, change)
			if got.err == nil || time.Since(start) != 0 {
				t.Errorf("%s: %v after %v", name, got.err, time.Since(start))
			}
			if name == "listen" && !errors.Is(got.err, local) {
				t.Errorf("%s: %v", name, got.err)
			}
		}
		j.wantRosters(j.join(t.Context(), 0, 0), j.join(t.Context(), 1, 0))
		<-srv
		for _, cfg := range []ServerConfig{{Size: 0}, {Size: MaxSize + 1}, {Size: 1, Timeout: -1}} {
			if err := Serve(t.Context(), j.net.listen(), cfg); err == nil {
				t.Errorf("%+v was accepted", cfg)
			}
		}
	})
}
