package collective

import (
	"context"

	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// postable returns how many bytes a rank posts, at most, when the plan is carried out on a
// board; -1 if it cannot be. Ranks that agree on the operation agree on it.
func (p *Plan) postable() int {
	if s := &p.spec; s.Fixed || s.Counts != nil || s.RecvCounts != nil || s.Kind.PointToPoint() {
		return -1
	}
	return p.given
}

// show is the first half of an operation on the board: it posts what this rank
// contributes. take does the rest. Nothing is passed on, and every rank that gets the
// result of a reduction computes all of it, in rank order.
//
// The board is unusable after an error, which is a *StepError unless the buffers are too
// short.
func (p *Plan) show(ctx context.Context, b fabric.Board, tag *fabric.Tag, main, input []byte) error {
	s := &p.spec
	if len(main) < p.main || len(input) < p.input {
		return p.tooShort(main, input)
	}
	if !p.posts() {
		return nil
	}
	source := main
	if s.Separate {
		source = input
	}
	var err error
	if shown := source[p.mine:][:p.posted]; s.Kind.Rooted() {
		err = b.Show(ctx, tag, shown)
	} else {
		err = b.Swap(ctx, tag, shown)
	}
	if err != nil {
		return p.peerError(SendStep, s.Rank, err)
	}
	return nil
}

// take is the second half: it waits for what the other ranks post, and takes what this
// one needs.
func (p *Plan) take(ctx context.Context, b fabric.Board, tag *fabric.Tag, main, input []byte) error {
	var r reader // field by field: a copy of what was just written would have to wait
	r.plan, r.ctx, r.board, r.tag = p, ctx, b, tag
	r.main, r.source = main, main
	if p.spec.Separate {
		r.source = input
	}
	if err := r.take(); err != nil {
		return err
	}
	b.Next()
	return nil
}

// posts reports whether this rank has something to post: a contribution that others need,
// or that it reads from the board itself.
func (p *Plan) posts() bool {
	return p.gives && (p.kernel != nil || !p.gets || !p.spec.Kind.Rooted() || p.rootGives)
}

// A reader takes from a board what one rank needs.
type reader struct {
	plan   *Plan
	ctx    context.Context
	board  fabric.Board
	tag    *fabric.Tag
	main   []byte
	source []byte // what the rank itself contributes lies here
}

// take waits for the other ranks and takes what they have posted.
func (r *reader) take() error {
	p := r.plan
	s := &p.spec
	switch {
	case !p.gets:
		return nil
	case p.kernel != nil:
		return r.reduce(r.main[p.into:][:p.block], p.part)
	case !p.rootGives:
		return r.gather(p.part)
	case s.Rank != s.Root:
		return r.copy(r.main[:p.block], s.Root, p.part)
	case s.Separate:
		copy(r.main, r.source[p.part:][:p.block])
	}
	return nil
}

// reduce combines what all ranks have posted from off on.
func (r *reader) reduce(dst []byte, off int) error {
	p := r.plan
	s := &p.spec
	var sum []byte
	for rank := range s.Size {
		var next []byte
		if rank == s.Rank && (rank < 2 || s.Separate) {
			next = r.source[off:][:len(dst)] // dst at most, which has not been written yet
		} else {
			shown, err := r.look(rank)
			if err != nil {
				return err
			}
			next = shown[off:][:len(dst)]
		}
		if rank > 0 {
			p.kernel(dst, sum, next)
			next = dst
		}
		sum = next
	}
	if p.divide {
		reduce.Divide(p.dtype, dst, dst, p.spec.Size)
	}
	return nil
}

// gather puts a block of what each rank has posted, from off on, in its place.
func (r *reader) gather(off int) error {
	s, block := &r.plan.spec, r.plan.block
	for rank := range s.Size {
		dst := r.main[rank*block:][:block]
		if rank != s.Rank {
			if err := r.copy(dst, rank, off); err != nil {
				return err
			}
		} else if s.Separate {
			copy(dst, r.source[off:])
		}
	}
	return nil
}

// copy copies what a rank has posted from off on.
func (r *reader) copy(dst []byte, rank, off int) error {
	shown, err := r.look(rank)
	if err != nil {
		return err
	}
	copy(dst, shown[off:])
	return nil
}

// look waits for what a rank posts.
func (r *reader) look(rank int) ([]byte, error) {
	shown, err := r.board.Look(r.ctx, rank, r.tag, r.plan.posted)
	if err != nil {
		return nil, r.plan.peerError(RecvStep, rank, err)
	}
	return shown, nil
}

// peerError returns the error of something that is no action of the plan.
func (p *Plan) peerError(s Step, peer int, err error) *StepError {
	return &StepError{Kind: p.spec.Kind, Algo: p.spec.Algo, Step: s, Peer: peer, Err: err}
}
