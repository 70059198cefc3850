package bench

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/fabric"
	"thundercollective/internal/provider/mem"
)

// A badCable damages one message of a given length that a rank receives.
type badCable struct {
	fabric.Fabric
	size  int
	count atomic.Int64 // messages of that length received
	nth   int64        // the one to damage, from 1
}

func (f *badCable) Link(ctx context.Context, peer int, ch fabric.Channel) (fabric.Link, error) {
	l, err := f.Fabric.Link(ctx, peer, ch)
	return &badLink{l, f}, err
}

type badLink struct {
	fabric.Link
	f *badCable
}

func (l *badLink) damage(p []byte) {
	if len(p) == l.f.size && l.f.count.Add(1) == l.f.nth {
		p[len(p)/2] ^= 0x10
	}
}

func (l *badLink) Recv(ctx context.Context, tag *fabric.Tag, b []byte) error {
	err := l.Link.Recv(ctx, tag, b)
	l.damage(b)
	return err
}

func (l *badLink) RecvFunc(ctx context.Context, tag *fabric.Tag, n int, f func(off int, p []byte) error) error {
	return l.Link.RecvFunc(ctx, tag, n, func(off int, p []byte) error {
		l.damage(p)
		return f(off, p)
	})
}

// badGroup opens two ranks, the second of which gets the nth message of that length damaged.
func badGroup(t *testing.T, size int, nth int64) ([]*thunder.Comm, *badCable) {
	t.Helper()
	fabrics, err := mem.New(2)
	if err != nil {
		t.Fatal(err)
	}
	bad := &badCable{Fabric: fabrics[1], size: size, nth: nth}
	fabrics[1] = bad
	comms, err := thunder.Over(fabrics, thunder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(comms) })
	return comms, bad
}

func closeAll(comms []*thunder.Comm) {
	_ = onAll(comms, func(c *thunder.Comm) error { return c.Close() })
}

// A message that is damaged in the middle of the timed iterations has to be found, and the
// row has to tell how many iterations were checked.
func TestCheckFindsOneDamagedIteration(t *testing.T) {
	const size, iters = 4000, 41
	for _, mode := range []Mode{Broadcast, SendRecv, PingPong, AllGather, AllReduce} {
		for _, c := range []struct {
			check   Check
			checked int
			finds   bool
		}{{CheckAll, iters, true}, {"", iters, true}, {CheckEnds, 1, false}} {
			cfg := Config{Mode: mode, Min: size, Max: size, Iters: iters, Check: c.check, Algo: thunder.Auto}
			msg := size
			switch mode {
			case AllGather:
				msg = size / 2
			case AllReduce:
				cfg.Algo, msg = thunder.Ring, size/2
			}
			comms, cable := badGroup(t, msg, 0)
			runAll(t, comms, cfg)
			total := cable.count.Load()
			if total < iters {
				t.Fatalf("%s: only %d messages of %d bytes", mode, total, msg)
			}
			comms, _ = badGroup(t, msg, total/2)
			for _, rows := range runAll(t, comms, cfg) {
				r := rows[0]
				if r.Checked != c.checked || r.Iters != iters || r.Wrong == nil || (*r.Wrong > 0) != c.finds {
					t.Errorf("%s, check %q: %d of %d checked, %v wrong; want %d checked, and the damage found: %v",
						mode, c.check, r.Checked, r.Iters, *r.Wrong, c.checked, c.finds)
				}
			}
		}
	}
}

// A result that does not arrive in the middle must not pass because it was there before.
func TestRenewForgetsResults(t *testing.T) {
	const ranks = 3
	for _, mode := range Collectives() {
		for _, count := range []int{1, 100, 10_000} {
			cfg := Config{Mode: mode}
			cfg.fill()
			s := shape{count, int64(count) * 4}
			if mode.blocks() {
				s.bytes *= ranks
			}
			send, recv := cfg.need(1, ranks, s)
			task := newTask(cfg, 1, ranks, s, &memory{make([]byte, send), make([]byte, recv)})
			for _, r := range task.want {
				r.p.fill(r.buf, r.start)
			}
			task.renew()
			kept := mode == Reduce || mode == Gather || mode == Barrier // rank 1 is not the root and gets nothing
			if n := task.wrong(); (n == 0) != kept {
				t.Errorf("%s of %d elements: %d wrong after renew", mode, count, n)
			}
		}
	}
}

func TestCheckEvery(t *testing.T) {
	for _, c := range []struct {
		cost, iteration time.Duration
		iters, want     int
	}{
		{0, 0, 5000, 1},
		{100 * time.Nanosecond, 7 * time.Microsecond, 5000, 1},
		{20 * time.Millisecond, 10 * time.Millisecond, 25, 1},
		{20 * time.Millisecond, 10 * time.Millisecond, 500, 2},
		{time.Second, 2 * time.Second, 100, 1},
		{10 * time.Millisecond, 0, 1000, 10},
	} {
		if got := checkEvery(c.cost, c.iteration, c.iters); got != c.want {
			t.Errorf("%+v: every %d", c, got)
		}
	}
}

// A rank alone sends nothing: its results are checked, and there are no figures.
func TestAloneMeasuresNothing(t *testing.T) {
	comms := group(t, 1)
	for _, mode := range []Mode{PingPong, AllReduce, Barrier} {
		r := runAll(t, comms, Config{Mode: mode, Min: 64, Max: 64, Iters: 3})[0][0]
		if !r.Alone || r.AlgBW != 0 || r.BusBW != 0 || r.GBps != 0 || r.ElapsedSecs != 0 || r.Lat != (Latency{}) || r.Wrong == nil || r.Checked != 3 {
			t.Errorf("%s: %+v", mode, r)
		}
	}
}
