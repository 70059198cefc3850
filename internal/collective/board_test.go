package collective

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// A slate is the memory behind the boards of a test: what each rank shows, by round.
type slate struct {
	mu    sync.Mutex
	more  *sync.Cond
	shown []map[int][]byte
	ended []bool // by rank
}

// slateBoard is one rank's fabric.Board on a slate.
type slateBoard struct {
	slate       *slate
	rank, round int
	room        int
}

func newSlate(n, room int) []*slateBoard {
	s := &slate{shown: make([]map[int][]byte, n), ended: make([]bool, n)}
	s.more = sync.NewCond(&s.mu)
	boards := make([]*slateBoard, n)
	for r := range boards {
		s.shown[r] = map[int][]byte{}
		boards[r] = &slateBoard{slate: s, rank: r, room: room}
	}
	return boards
}

func (b *slateBoard) Room() int  { return b.room }
func (b *slateBoard) Free() bool { return true }
func (b *slateBoard) Next()      { b.round++ }

// end has the others find that this rank is gone.
func (b *slateBoard) end() {
	b.slate.mu.Lock()
	defer b.slate.mu.Unlock()
	b.slate.ended[b.rank] = true
	b.slate.more.Broadcast()
}

func (b *slateBoard) Swap(ctx context.Context, tag *fabric.Tag, p []byte) error {
	return b.Show(ctx, tag, p)
}

func (b *slateBoard) Show(_ context.Context, tag *fabric.Tag, p []byte) error {
	b.slate.mu.Lock()
	defer b.slate.mu.Unlock()
	b.slate.shown[b.rank][b.round] = append(tag[:len(tag):len(tag)], p...)
	b.slate.more.Broadcast()
	return nil
}

func (b *slateBoard) Look(ctx context.Context, rank int, tag *fabric.Tag, n int) ([]byte, error) {
	defer context.AfterFunc(ctx, func() {
		b.slate.mu.Lock()
		defer b.slate.mu.Unlock()
		b.slate.more.Broadcast()
	})()
	b.slate.mu.Lock()
	defer b.slate.mu.Unlock()
	for b.slate.shown[rank][b.round] == nil {
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case b.slate.ended[rank]:
			return nil, &fabric.LostError{Peer: rank, Err: errors.New("gone")}
		}
		b.slate.more.Wait()
	}
	p := b.slate.shown[rank][b.round]
	if len(p) != len(tag)+n || fabric.Tag(p[:len(tag)]) != *tag {
		return nil, &fabric.TagError{Peer: rank, Want: *tag}
	}
	return p[len(tag):], nil
}

// TestBoardEverything runs every operation on boards, in all types and reductions.
func TestBoardEverything(t *testing.T) {
	for n := 2; n <= 6; n++ {
		g := newTestGroup(t, memLinks(t, n))
		for r, b := range newSlate(n, 1<<20) {
			g.executors[r].Share(&poolMemory{board: b, access: new(access)}, false)
		}
		turn := 0
		run := func(ctx context.Context, plans []*Plan, mains, inputs [][]byte) []error {
			errs := make([]error, n)
			var wg sync.WaitGroup
			for r, p := range plans {
				if p.posted != plans[0].posted || p.posted < 0 {
					t.Fatalf("%v: rank %d posts %d bytes, rank 0 %d", p.spec.Kind, r, p.posted, plans[0].posted)
				}
				wg.Go(func() {
					op := Operation{Plan: p, Tag: &fabric.Tag{byte(turn)}, Main: mains[r], Input: inputs[r]}
					started, err := g.executors[r].Begin(ctx, &op)
					if !started || op.Path() != PathBoard {
						t.Errorf("%v: started %v, path %v", p.spec.Kind, started, op.Path())
					}
					if err == nil {
						err = g.executors[r].Finish(ctx, &op)
					}
					errs[r] = err
				})
			}
			wg.Wait()
			return errs
		}
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) {
			for kind := AllReduce; kind <= Barrier; kind++ {
				for _, dt := range reduce.DTypes() {
					for _, op := range ops(dt) {
						turn++
						s := Spec{
							Kind: kind, Algo: Direct, Size: n, Root: turn % n,
							Count: []int{3*n + 1, 1, 40, 0}[turn%4], Separate: turn%3 != 0 || kind == AllToAll,
						}
						newJob(t, s, dt, op).checkWith(t, DefaultSegment, run)
					}
				}
			}
		})
	}
}

// TestBoardErrors: short buffers are refused, and an error of the board says what was
// being done.
func TestBoardErrors(t *testing.T) {
	boards := newSlate(2, 1<<20)
	ctx, tag := t.Context(), fabric.Tag{1}
	p, err := NewPlan(Spec{Kind: AllReduce, Algo: Direct, Rank: 1, Size: 2, Count: 4}, reduce.F32, reduce.Sum)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.show(ctx, boards[1], &tag, make([]byte, 15), nil); err == nil {
		t.Error("no error for a short buffer")
	}
	if err := boards[0].Show(ctx, &fabric.Tag{2}, make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	var step *StepError
	var refused *fabric.TagError
	err = p.take(ctx, boards[1], &tag, make([]byte, 16), nil)
	if !errors.As(err, &step) || step.Peer != 0 || step.Step != RecvStep || !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
	v, err := NewPlan(Spec{Kind: AllGather, Algo: Direct, Size: 2, Counts: []int{1, 2}}, reduce.F32, reduce.Sum)
	if err != nil {
		t.Fatal(err)
	}
	if v.posted >= 0 {
		t.Errorf("a v-form, whose lengths not all ranks know, posts %d bytes", v.posted)
	}
}
