package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"thundercollective/internal/rendezvous/handshake"
)

// These tests run in synctest bubbles: time is faked, and a bubble does not end
// while a goroutine of Serve or Join is left.

// A job is a coordinator and ranks that meet on a memNet.
type job struct {
	t    *testing.T
	net  memNet
	size int
}

type served struct{ err error }

type joined struct {
	roster *Roster
	err    error
}

func (j *job) serve(ctx context.Context, after time.Duration, change ...func(*ServerConfig)) <-chan served {
	ch := make(chan served, 1)
	go func() {
		time.Sleep(after)
		cfg := ServerConfig{Size: j.size, Token: []byte("k"), Timeout: time.Minute}
		for _, f := range change {
			f(&cfg)
		}
		ch <- served{Serve(ctx, j.net.listen(), cfg)}
	}()
	return ch
}

func (j *job) join(ctx context.Context, rank int, after time.Duration, change ...func(*JoinConfig)) <-chan joined {
	ch := make(chan joined, 1)
	go func() {
		time.Sleep(after)
		cfg := JoinConfig{
			Coordinator: "coordinator:1", Rank: rank, Size: j.size, Token: []byte("k"), Timeout: time.Minute,
			Host: fmt.Sprintf("host%d", rank), Machine: listed(rank), Addrs: []string{fmt.Sprintf("10.0.0.%d:7000", rank+1)},
			dial: j.net.dial,
		}
		for _, f := range change {
			f(&cfg)
		}
		r, err := Join(ctx, cfg)
		ch <- joined{r, err}
	}()
	return ch
}

// connect opens a raw connection to the coordinator.
func (j *job) connect() net.Conn {
	j.t.Helper()
	conn, err := j.net.dial(j.t.Context(), "")
	if err != nil {
		j.t.Fatal(err)
	}
	j.t.Cleanup(func() { conn.Close() })
	return conn
}

// wantRosters checks that every rank got the roster.
func (j *job) wantRosters(ranks ...<-chan joined) {
	j.t.Helper()
	var want []Peer
	for r := range j.size {
		want = append(want, Peer{fmt.Sprintf("host%d", r), []string{fmt.Sprintf("10.0.0.%d:7000", r+1)}, listed(r)})
	}
	for r, ch := range ranks {
		got := <-ch
		if got.err != nil {
			j.t.Errorf("rank %d: %v", r, got.err)
		} else if got.roster.Rank != r || !reflect.DeepEqual(got.roster.Peers, want) {
			j.t.Errorf("rank %d: %+v", r, got.roster)
		}
	}
}

func bubble(t *testing.T, size int, f func(t *testing.T, j *job)) {
	synctest.Test(t, func(t *testing.T) { f(t, &job{t: t, size: size}) })
}

func TestAnyOrder(t *testing.T) {
	const s = time.Second
	for _, starts := range [][]time.Duration{ // of the coordinator and of the ranks
		{0, 0},
		{0, 0, 0, 0},
		{59 * s, 0, 0, 0},
		{0, 59 * s, 30 * s, 0},
		{10 * s, 0, 20 * s, 59 * s, 5 * s},
	} {
		t.Run(fmt.Sprint(starts), func(t *testing.T) {
			bubble(t, len(starts)-1, func(t *testing.T, j *job) {
				srv := j.serve(t.Context(), starts[0])
				var ranks []<-chan joined
				for r, after := range starts[1:] {
					ranks = append(ranks, j.join(t.Context(), r, after))
				}
				j.wantRosters(ranks...)
				if err := (<-srv).err; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestMissing(t *testing.T) {
	bubble(t, 4, func(t *testing.T, j *job) {
		srv := j.serve(t.Context(), 0)
		r0 := j.join(t.Context(), 0, time.Second)
		r1 := j.join(t.Context(), 1, 2*time.Second)
		bad := <-j.join(t.Context(), 2, 3*time.Second, func(c *JoinConfig) { c.Token = []byte("other") })
		if auth, ok := errors.AsType[*handshake.AuthError](bad.err); !ok || auth.Rank != 0 {
			t.Errorf("wrong token: %v", bad.err)
		}
		want := MissingError{
			Missing: []int{2, 3}, Size: 4, Waited: time.Minute, AuthFailures: 1, AuthFrom: []string{"pipe"},
		}
		err := (<-srv).err
		merr, ok := errors.AsType[*MissingError](err)
		if !ok || !reflect.DeepEqual(*merr, want) {
			t.Errorf("Serve: %+v", err)
		}
		const text = "ranks 2 and 3 of 4 did not arrive within 60 s; 1 connection failed authentication from pipe"
		if err.Error() != text {
			t.Errorf("Serve: %v\nwant %s", err, text)
		}
		for r, ch := range []<-chan joined{r0, r1} {
			got := <-ch
			want.Waited = time.Minute - time.Duration(r+1)*time.Second
			merr, ok := errors.AsType[*MissingError](got.err)
			if !ok || !reflect.DeepEqual(*merr, want) {
				t.Errorf("rank %d: %+v", r, got.err)
			}
		}
	})
}

// TestFirstPatience has a rank that starts long before the coordinator: when it gives
// up, all ranks learn who is missing.
func TestFirstPatience(t *testing.T) {
	bubble(t, 3, func(t *testing.T, j *job) {
		r1 := j.join(t.Context(), 1, 0)
		srv := j.serve(t.Context(), 50*time.Second)
		r0 := j.join(t.Context(), 0, 50*time.Second)
		for who, c := range map[string]struct {
			err    error
			waited time.Duration
		}{"rank 1": {(<-r1).err, time.Minute}, "rank 0": {(<-r0).err, 10 * time.Second}, "coordinator": {(<-srv).err, 10 * time.Second}} {
			merr, ok := errors.AsType[*MissingError](c.err)
			if !ok || !reflect.DeepEqual(merr.Missing, []int{2}) || merr.Waited.Round(time.Second) != c.waited {
				t.Errorf("%s: %v", who, c.err)
			}
		}
	})
}

// TestContextDeadline leaves room before the deadline of ctx to say who is missing.
func TestContextDeadline(t *testing.T) {
	bubble(t, 2, func(t *testing.T, j *job) {
		srv := j.serve(t.Context(), 0)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		got := <-j.join(ctx, 0, 0)
		if _, ok := errors.AsType[*MissingError](got.err); !ok {
			t.Errorf("rank 0: %v", got.err)
		}
		<-srv
	})
}

func TestDuplicateRank(t *testing.T) {
	bubble(t, 2, func(t *testing.T, j *job) {
		srv := j.serve(t.Context(), 0)
		first := j.join(t.Context(), 1, 0)
		second := <-j.join(t.Context(), 1, time.Second)
		rej, ok := errors.AsType[*handshake.RejectedError](second.err)
		if !ok || rej.Code != handshake.DuplicateRank || !strings.Contains(rej.Text, "rank 1 is already here, from pipe") {
			t.Errorf("second rank 1: %v", second.err)
		}
		j.wantRosters(j.join(t.Context(), 0, 0), first)
		if err := (<-srv).err; err != nil {
			t.Error(err)
		}
	})
}

// TestRejoin has a rank that dies after it registered and is started again, at
// once and later.
func TestRejoin(t *testing.T) {
	for _, pause := range []time.Duration{0, time.Second} {
		bubble(t, 2, func(t *testing.T, j *job) {
			srv := j.serve(t.Context(), 0)
			ctx, kill := context.WithCancelCause(t.Context())
			first := j.join(ctx, 1, 0)
			time.Sleep(time.Second)
			killed := errors.New("killed")
			kill(killed)
			again := j.join(t.Context(), 1, pause)
			if err := (<-first).err; !errors.Is(err, killed) {
				t.Errorf("first: %v", err)
			}
			j.wantRosters(j.join(t.Context(), 0, 5*time.Second), again)
			if err := (<-srv).err; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTurnedAway(t *testing.T) {
	tests := []struct {
		name   string
		change func(*JoinConfig)
		code   handshake.Code
		text   string
	}{
		{"size", func(c *JoinConfig) { c.Generation, c.Size = 5, 3 }, handshake.WrongSize, "rank 1 was started with world size 3, the coordinator with 2"},
		{"generation", func(c *JoinConfig) { c.Generation = 4 }, handshake.WrongGeneration, "the rank is of generation 4 of the job, the coordinator of generation 5"},
		{"address", func(c *JoinConfig) { c.Generation, c.Addrs = 5, []string{"10.0.0.1:7000"} }, handshake.Other, "10.0.0.1:7000 is already an address of rank 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, j *job) {
				var log strings.Builder
				srv := j.serve(t.Context(), 0, func(c *ServerConfig) {
					c.Generation, c.Logger = 5, slog.New(slog.NewTextHandler(&log, nil))
				})
				five := func(c *JoinConfig) { c.Generation = 5 }
				r0 := j.join(t.Context(), 0, 0, five)
				start := time.Now()
				got := <-j.join(t.Context(), 1, time.Second, tt.change)
				rej, ok := errors.AsType[*handshake.RejectedError](got.err)
				if !ok || rej.Code != tt.code || rej.Text != tt.text {
					t.Errorf("got %v", got.err)
				}
				if waited := time.Since(start); waited != time.Second {
					t.Errorf("was told after %v", waited)
				}
				j.wantRosters(r0, j.join(t.Context(), 1, 0, five))
				if err := (<-srv).err; err != nil {
					t.Error(err)
				}
				if n := strings.Count(log.String(), tt.text); n != 1 {
					t.Errorf("logged %d times: %s", n, log.String())
				}
			})
		})
	}
}

// TestOnJoin checks that the coordinator reports the ranks of a later generation, but
// only those that can be ranks of the job, and serves them afterwards.
func TestOnJoin(t *testing.T) {
	bubble(t, 2, func(t *testing.T, j *job) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		asked := map[int]uint32{}
		old := j.serve(ctx, 0, func(c *ServerConfig) {
			c.Generation = 1
			c.OnJoin = func(rank int, generation uint32) {
				mu.Lock()
				defer mu.Unlock()
				asked[rank] = generation
				if len(asked) == 2 {
					cancel()
				}
			}
		})
		<-j.join(t.Context(), 0, 0, func(c *JoinConfig) { c.Generation, c.Token, c.Timeout = 9, []byte("other"), time.Second })
		<-j.join(t.Context(), 2, 0, func(c *JoinConfig) { c.Generation, c.Size, c.Timeout = 9, 3, time.Second })
		<-j.join(t.Context(), 0, 0, func(c *JoinConfig) { c.Timeout = time.Second }) // too late
		next := func(c *JoinConfig) { c.Generation = 2 }
		r0, r1 := j.join(t.Context(), 0, 0, next), j.join(t.Context(), 1, time.Second, next)
		<-old
		if want := map[int]uint32{0: 2, 1: 2}; !maps.Equal(asked, want) {
			t.Errorf("heard of %v, want %v", asked, want)
		}
		met := 0
		srv := j.serve(t.Context(), 0, func(c *ServerConfig) { c.Generation, c.OnComplete = 2, func() { met++ } })
		j.wantRosters(r0, r1)
		if err := (<-srv).err; err != nil || met != 1 {
			t.Errorf("%v; met %d times", err, met)
		}
	})
}

// TestNextGeneration has the ranks of a restarted job arrive while the coordinator
// of the earlier one is still there.
func TestNextGeneration(t *testing.T) {
	bubble(t, 1, func(t *testing.T, j *job) {
		ctx, cancel := context.WithCancel(t.Context())
		old := j.serve(ctx, 0, func(c *ServerConfig) { c.Generation = 1 })
		r0 := j.join(t.Context(), 0, time.Second, func(c *JoinConfig) { c.Generation = 2 })
		time.Sleep(10 * time.Second)
		cancel()
		<-old
		srv := j.serve(t.Context(), time.Second, func(c *ServerConfig) { c.Generation = 2 })
		j.wantRosters(r0)
		if err := (<-srv).err; err != nil {
			t.Error(err)
		}
	})
}
