package shm

import (
	"context"

	"thundercollective/fabric"
)

// A trip is a fabric.Trip under way. What is lent lies in the sender's ring like any
// message, and is back when the receiver has released it. So each end writes only to
// lines that it was the last to read, which its processor then has for itself already.
type trip struct {
	*fabric.Trip
	out *outWire
	// By chunk number modulo tripDepth: where it lies, and the number of cells that the
	// peer is done with when it is back.
	at, back [tripDepth]uint64
	lent     int // chunks
}

// tripDepth is how many chunks are lent at once, if there is room. Three are enough as
// long as both ends are at work: one comes back, one is worked on, one goes out. While the
// peer is away, as on a machine with more to do than processors, more of them mean fewer
// times that the ends have to wait for each other.
const tripDepth = dataSize/chunkSize - 1

func chunks(n int) int { return (n + chunkSize - 1) / chunkSize }

// chunkOf returns where chunk i of n bytes begins, and how long it is.
func chunkOf(i, n int) (off, length int) {
	off = i * chunkSize
	return off, min(chunkSize, n-off)
}

// met implements condition: there is room to lend the next chunk.
func (t *trip) met() bool {
	_, n := chunkOf(t.lent, t.Out)
	_, end := chunk(t.out.pos, n)
	return t.out.room(end)
}

// A homecoming is the condition that a chunk is back.
type homecoming struct {
	out   *outWire
	cells uint64
}

func (h *homecoming) met() bool { return h.out.wire.taken.Load() >= h.cells }

// RoundTrip implements fabric.RoundTripper.
func (l *link) RoundTrip(ctx context.Context, tag *fabric.Tag, ft *fabric.Trip) error {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	err := l.sendable()
	if err == nil {
		err = l.begin(ctx, &l.out.side)
	}
	if err == nil {
		err = l.begin(ctx, &l.in.side)
	}
	if err == nil && l.out.remaining() > 0 {
		l.out.left = 0
		err = l.hub.wait(ctx, l, &l.out, &l.out.spin)
	}
	if err == nil {
		err = l.travel(ctx, tag, ft)
	}
	if err != nil {
		l.out.broken, l.in.broken = err, err
		l.drop()
		return err
	}
	for _, s := range []*side{&l.out.side, &l.in.side} {
		s.count(ft.Out)
		s.count(ft.In)
	}
	return nil
}

func (l *link) travel(ctx context.Context, tag *fabric.Tag, ft *fabric.Trip) error {
	l.trip = trip{Trip: ft, out: &l.out.outWire}
	defer func() { l.trip.Trip = nil }()
	outs, ins := chunks(ft.Out), chunks(ft.In)
	for k := range max(outs, ins) + 1 {
		for l.trip.lent < min(k+2, outs) {
			if err := l.lend(ctx, tag); err != nil {
				return err
			}
		}
		for k < ins && l.trip.lent < min(k+tripDepth-1, outs) && !l.in.met() && l.trip.met() {
			if err := l.lend(ctx, tag); err != nil {
				return err
			}
		}
		if k < ins {
			if err := l.serve(ctx, tag, k); err != nil {
				return err
			}
		}
		if k > 0 && k <= outs {
			if err := l.regain(ctx, k-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// lend puts the next chunk on its way.
func (l *link) lend(ctx context.Context, tag *fabric.Tag) error {
	t, w := &l.trip, &l.out.outWire
	off, n := chunkOf(t.lent, t.Out)
	at, end := chunk(w.pos, n)
	if !t.met() {
		if err := l.hub.wait(ctx, l, t, &l.out.spin); err != nil {
			return err
		}
	}
	if t.lent == 0 {
		w.announce(tag, t.Out)
	}
	t.Lend(off, w.data[at%dataSize:][:n:n])
	w.publish(end)
	t.at[t.lent%tripDepth], t.back[t.lent%tripDepth] = at%dataSize, w.next
	t.lent++
	l.bell.wake()
	return nil
}

// serve works on chunk k of the peer.
func (l *link) serve(ctx context.Context, tag *fabric.Tag, k int) error {
	in := &l.in
	if err := l.arrived(ctx); err != nil {
		return err
	}
	if k == 0 {
		if err := l.expect(tag, l.trip.In); err != nil {
			return err
		}
	}
	off, n := chunkOf(k, l.trip.In)
	l.trip.Work(off, in.chunk(n))
	in.release()
	l.bell.wake()
	return nil
}

// regain takes chunk k back.
func (l *link) regain(ctx context.Context, k int) error {
	t := &l.trip
	home := &l.home
	home.out, home.cells = t.out, t.back[k%tripDepth]
	if !home.met() {
		if err := l.hub.wait(ctx, l, home, &l.out.spin); err != nil {
			return err
		}
	}
	off, n := chunkOf(k, t.Out)
	t.Back(off, t.out.data[t.at[k%tripDepth]:][:n:n])
	return nil
}
