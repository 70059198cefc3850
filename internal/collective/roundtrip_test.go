package collective

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// RoundTrip makes a round trip of four messages.
func (m *poolMemory) RoundTrip(ctx context.Context, peer int, tag *fabric.Tag, t *fabric.RoundTrip) error {
	m.made.Add(1)
	if m.fault != nil {
		if err := m.fault(m.rank, peer); err != nil {
			return err
		}
	}
	l, err := m.links.Link(ctx, peer)
	if err != nil {
		return err
	}
	const piece = 12 << 10 // not a divisor of anything
	pieces := func(b []byte, f func(off int, p []byte)) {
		for off := 0; off < len(b); off += piece {
			f(off, b[off:min(off+piece, len(b))])
		}
	}
	exchange := func(out, in []byte) error {
		sent := make(chan error, 1)
		go func() { sent <- fabric.Send(ctx, l, tag, out) }()
		err := l.Recv(ctx, tag, in)
		return errors.Join(<-sent, err)
	}
	mine, theirs := make([]byte, t.Out), make([]byte, t.In)
	pieces(mine, t.Lend)
	if err := exchange(mine, theirs); err != nil {
		return err
	}
	pieces(theirs, t.Work)
	if err := exchange(theirs, mine); err != nil {
		return err
	}
	pieces(mine, t.Back)
	return nil
}

// TestRoundTrip reduces vectors in round trips, whether others can read them or not, and makes none
// where they are too short, or mapped, or where the number of ranks does not allow it.
func TestRoundTrip(t *testing.T) {
	for _, n := range []int{2, 3, 4, 8} {
		g, _, how, ms := newPoolOf(t, n)
		made := ms[0].made
		for _, bytes := range []int{16<<10 - 4, 16 << 10, 64<<10 + 4*17, 1<<20 - 4, 1 << 20, 4<<20 + 4} {
			for _, a := range []access{readable, mappable, hidden} {
				for r := range how {
					how[r] = a
				}
				for _, separate := range []bool{false, true} {
					before := made.Load()
					s := Spec{Kind: AllReduce, Algo: Auto, Size: n, Count: bytes / 4, Separate: separate}.Resolve(4)
					op := []reduce.Op{reduce.Sum, reduce.Avg, reduce.Max}[bytes/4%3]
					newJob(t, s, reduce.F32, op).check(t, g, DefaultSegment)
					want := int64(0)
					if a != mappable && roundTripGains(AllReduce, n, bytes) {
						want = int64(n) * map[int]int64{2: 1, 4: 2, 8: 3}[n]
					}
					if got := made.Load() - before; got != want {
						t.Errorf("%d ranks, %d bytes, access %d: %d round trips, want %d", n, bytes, a, got, want)
					}
				}
			}
		}
	}
}

// TestRoundTripSameBits: every rank has the same bits, whatever the order does to them, and
// two ranks add in rank order.
func TestRoundTripSameBits(t *testing.T) {
	for _, n := range []int{2, 4} {
		g, _, _, ms := newPoolOf(t, n)
		made := ms[0].made
		s := Spec{Kind: AllReduce, Algo: Auto, Size: n, Count: 300_001}.Resolve(4)
		j := newJob(t, s, reduce.F32, reduce.Sum)
		for r, b := range j.mains {
			for i := 0; i < len(b); i += 4 {
				bits := uint32(0x3f80_0001+i*2654435761>>9) & 0x47ff_ffff
				if i%4096 == 0 {
					bits = 0x7fc0_0000 | uint32(r+1) // which NaN comes out depends on which came first
				}
				binary.NativeEndian.PutUint32(b[i:], bits+uint32(r)<<20)
			}
		}
		want := j.reduceAll(t, j.mains, span{0, s.Count})
		for r, err := range j.runAll(t, t.Context(), g) {
			if err != nil {
				t.Fatal(err)
			}
			if n == 2 && !bytes.Equal(j.mains[r], want) {
				t.Errorf("rank %d has not added in rank order", r)
			}
			if !bytes.Equal(j.mains[r], j.mains[0]) {
				t.Errorf("%d ranks: rank %d has other bits than rank 0", n, r)
			}
		}
		if made.Load() == 0 {
			t.Errorf("%d ranks made no round trip", n)
		}
	}
}

// TestRoundTripFaults has the second round trip of a rank fail: all ranks end, and it
// names the peer that it lost.
func TestRoundTripFaults(t *testing.T) {
	g, _, _, ms := newPoolOf(t, 4)
	ms[1].fault = func(rank, peer int) error {
		if peer != rank^2 {
			return nil
		}
		return &fabric.LostError{Peer: peer, Err: fmt.Errorf("gone")}
	}
	s := Spec{Kind: AllReduce, Algo: Auto, Size: 4, Count: 1 << 19}.Resolve(4)
	errs := newJob(t, s, reduce.F32, reduce.Sum).runAll(t, t.Context(), g)
	var step *StepError
	var lost *fabric.LostError
	if !errors.As(errs[1], &step) || !errors.As(errs[1], &lost) || step.Peer != 3 || lost.Peer != 3 {
		t.Errorf("rank 1 says %v", errs[1])
	}
	if errs[3] == nil {
		t.Error("rank 3 has not noticed")
	}
}
