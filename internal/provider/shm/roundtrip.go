package shm

import (
	"context"

	"thundercollective/fabric"
)

// A roundTrip is a fabric.RoundTrip under way. What is lent lies in the sender's ring like any
// message, and is back when the receiver has released it. So each end writes only to
// lines that it was the last to read, which its processor then has for itself already.
type roundTrip struct {
	*fabric.RoundTrip
	out *outWire
	// By chunk number modulo lendDepth: where it lies, and the number of cells that the
	// peer is done with when it is back.
	at, back [lendDepth]uint64
	lent     int // chunks
}

// lendDepth is how many chunks are lent at once, if there is room. Three are enough as
// long as both ends are at work: one comes back, one is worked on, one goes out. While the
// peer is away, as on a machine with more to do than processors, more of them mean fewer
// times that the ends have to wait for each other.
const lendDepth = dataSize/chunkSize - 1

func chunks(n int) int { return (n + chunkSize - 1) / chunkSize }

// chunkOf returns where chunk i of n bytes begins, and how long it is.
func chunkOf(i, n int) (off, length int) {
	off = i * chunkSize
	return off, min(chunkSize, n-off)
}

// met implements condition: there is room to lend the next chunk.
func (t *roundTrip) met() bool {
	_, n := chunkOf(t.lent, t.Out)
	_, end := chunk(t.out.pos, n)
	return t.out.room(end)
}

// returned is the condition that a chunk is back.
type returned struct {
	out   *outWire
	cells uint64
}

func (r *returned) met() bool { return r.out.wire.taken.Load() >= r.cells }

// roundTrip does what fabric.Memory says of RoundTrip.
func (l *link) roundTrip(ctx context.Context, tag *fabric.Tag, ft *fabric.RoundTrip) error {
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
		err = l.progress.wait(ctx, l, &l.out, &l.out.spin)
	}
	if err == nil {
		err = l.exchange(ctx, tag, ft)
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

// exchange lends, works and takes back, chunk by chunk.
func (l *link) exchange(ctx context.Context, tag *fabric.Tag, ft *fabric.RoundTrip) error {
	l.trip = roundTrip{RoundTrip: ft, out: &l.out.outWire}
	defer func() { l.trip.RoundTrip = nil }()
	outs, ins := chunks(ft.Out), chunks(ft.In)
	for k := range max(outs, ins) + 1 {
		for l.trip.lent < min(k+2, outs) {
			if err := l.lend(ctx, tag); err != nil {
				return err
			}
		}
		for k < ins && l.trip.lent < min(k+lendDepth-1, outs) && !l.in.met() && l.trip.met() {
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
			if err := l.takeBack(ctx, k-1); err != nil {
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
		if err := l.progress.wait(ctx, l, t, &l.out.spin); err != nil {
			return err
		}
	}
	if t.lent == 0 {
		w.announce(tag, t.Out)
	}
	t.Lend(off, w.data[at%dataSize:][:n:n])
	w.publish(end)
	t.at[t.lent%lendDepth], t.back[t.lent%lendDepth] = at%dataSize, w.next
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

// takeBack takes back chunk k.
func (l *link) takeBack(ctx context.Context, k int) error {
	t := &l.trip
	back := &l.back
	back.out, back.cells = t.out, t.back[k%lendDepth]
	if !back.met() {
		if err := l.progress.wait(ctx, l, back, &l.out.spin); err != nil {
			return err
		}
	}
	off, n := chunkOf(k, t.Out)
	t.Back(off, t.out.data[t.at[k%lendDepth]:][:n:n])
	return nil
}
