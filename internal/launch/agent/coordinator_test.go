package agent

import (
	"context"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	"thundercollective/internal/launch/wire"
	"thundercollective/internal/rendezvous"
)

// TestServe has the coordinator there for one rendezvous after the other, until the
// ranks have ended.
func TestServe(t *testing.T) {
	l := startAgent(t, Config{})
	l.send(wire.KindPrepare, wire.Prepare{Program: []string{"cat"}, Dir: "/", Host: "127.0.0.1", Ports: []int{0},
		Serve: &wire.Serve{Size: 2, Token: "secret", Generation: 7}})
	var r wire.Ready
	l.expect(wire.KindReady, &r)
	l.send(wire.KindStart, wire.Start{Ranks: []int{0}, Argv: []string{"cat"}, Env: [][]string{nil}, Stdin: []int{0}})
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(r.Ports[0]))
	join := func(rank int, token string) (*rendezvous.Roster, error) {
		return rendezvous.Resolve(context.Background(), rendezvous.Config{
			Rank: rank, Size: 2, Coordinator: addr, Served: true, Token: []byte(token), Generation: 7, StartTimeout: 20 * time.Second,
		}, func(at []string) ([]string, error) { return []string{"127.0.0.1:" + strconv.Itoa(1000+rank)}, nil })
	}
	for range 3 {
		other := make(chan error, 1)
		go func() {
			_, err := join(1, "secret")
			other <- err
		}()
		if ros, err := join(0, "secret"); err != nil || ros.Size() != 2 {
			t.Errorf("rank 0 got %+v, %v", ros, err)
		}
		if err := <-other; err != nil {
			t.Errorf("rank 1: %v", err)
		}
	}
	l.Send(wire.KindStdinEnd, 0, nil)
	l.expect(wire.KindFinished, nil)
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("the coordinator has survived the job")
	}
}

// TestStartAgain starts a rank again while another lives on, and has the coordinator
// go on to the generation that ranks ask for.
func TestStartAgain(t *testing.T) {
	l := startAgent(t, Config{})
	l.send(wire.KindPrepare, wire.Prepare{Program: []string{"sh"}, Dir: "/", Host: "127.0.0.1", Ports: []int{0},
		Serve: &wire.Serve{Size: 2, Token: "secret", Generation: 7}})
	var r wire.Ready
	l.expect(wire.KindReady, &r)
	next := func(generation uint32, met bool) {
		t.Helper()
		l.send(wire.KindNext, nil)
		var n wire.Next
		if l.expect(wire.KindNext, &n); n.Generation != generation || n.Met != met {
			t.Errorf("next is %+v, want generation %d, met: %v", n, generation, met)
		}
	}
	s := wire.Start{
		Ranks: []int{0, 1}, Argv: []string{"sh", "-c", "read line && echo $line"}, Env: [][]string{nil, nil},
		Files: map[string]string{"SECRET": "swordfish"}, Stdin: []int{0, 1}, Keep: true,
	}
	l.send(wire.KindStart, s)
	join := func(rank int, generation uint32) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := rendezvous.Resolve(context.Background(), rendezvous.Config{
				Rank: rank, Size: 2, Coordinator: net.JoinHostPort("127.0.0.1", strconv.Itoa(r.Ports[0])), Served: true,
				Token: []byte("secret"), Generation: generation, StartTimeout: 20 * time.Second,
			}, func([]string) ([]string, error) { return []string{"127.0.0.1:" + strconv.Itoa(1000+rank)}, nil })
			done <- err
		}()
		return done
	}
	meet := func(a, b <-chan error) {
		t.Helper()
		for _, done := range []<-chan error{a, b} {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	next(7, false)
	meet(join(0, 7), join(1, 7))
	next(8, true)
	l.Send(wire.KindStdinEnd, 1, nil) // which makes it fail
	var x wire.Exited
	if f := l.expect(wire.KindExited, &x); f.Rank != 1 || x.Code != 1 {
		t.Errorf("rank %d ended with %+v", f.Rank, x)
	}
	survivor := join(0, 8)
	var re wire.Reforming
	if f := l.expect(wire.KindReforming, &re); f.Rank != 0 || re.Generation != 8 {
		t.Errorf("rank %d re-forms in %+v", f.Rank, re)
	}
	next(8, true)
	s.Ranks, s.Env, s.Stdin = []int{1}, [][]string{nil}, []int{1}
	l.send(wire.KindStart, s)
	if f := l.expect(wire.KindStarted, nil); f.Rank != 1 {
		t.Errorf("rank %d was started", f.Rank)
	}
	meet(survivor, join(1, 8))
	next(9, true)
	for rank := range 2 {
		l.SendData(wire.KindStdin, rank, []byte("good\n"))
		if f := l.expect(wire.KindStdout, nil); f.Rank != rank || string(f.Data) != "good\n" {
			t.Errorf("rank %d said %q", f.Rank, f.Data)
		}
		l.expect(wire.KindFinished, nil)
	}
	l.in.Close()
	go io.Copy(io.Discard, connReader{l.Conn})
	if err := <-l.end; err != nil {
		t.Errorf("agent ended with %v", err)
	}
}
