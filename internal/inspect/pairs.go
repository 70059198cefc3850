package inspect

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"thundercollective/internal/recorder"
)

// A wait is a point-to-point message that a rank had begun and not done.
type wait struct {
	rank, peer int
	send       bool
	op         *recorder.Operation
	theirs     *recorder.Operation // the peer's side of it; nil if it has not called that
	known      bool                // there is a dump of the peer
}

// messages finds the history of what went from one rank to another, as rank has it.
func messages(g *recorder.Group, peer int, d recorder.Direction) []recorder.Operation {
	for i := range g.Pairs {
		if p := &g.Pairs[i]; p.Peer == peer && p.Direction == d {
			return p.Operations
		}
	}
	return nil
}

// waits are the messages under way in a group, or when it ended, by rank.
func (r *Report) waits(id uint32) (list []wait) {
	for rank := range r.Size {
		d := r.byRank[rank]
		if d == nil || of(d, id) == nil {
			continue
		}
		g := of(d, id)
		for i := range g.Pairs {
			p := &g.Pairs[i]
			if n := len(p.Operations); n > 0 && p.Operations[n-1].State != "done" {
				w := wait{rank: rank, peer: p.Peer, send: p.Direction == recorder.To, op: &p.Operations[n-1]}
				w.theirs, w.known = r.otherSide(id, &w)
				list = append(list, w)
			}
		}
	}
	return list
}

// otherSide is what the peer has of a message.
func (r *Report) otherSide(id uint32, w *wait) (op *recorder.Operation, known bool) {
	d := r.byRank[w.peer]
	if d == nil || of(d, id) == nil {
		return nil, false
	}
	direction := recorder.To
	if w.send {
		direction = recorder.From
	}
	ops := messages(of(d, id), w.rank, direction)
	for i := range ops {
		if ops[i].Seq == w.op.Seq {
			return &ops[i], true
		}
	}
	return nil, true
}

// String is for a table.
func (w *wait) String() string {
	return fmt.Sprintf("%s, message %d", w.op.Call, w.op.Seq)
}

// because says why it is not done.
func (w *wait) because() string {
	switch {
	case !w.known:
		return fmt.Sprintf("there is no dump of rank %d", w.peer)
	case w.theirs == nil && w.send:
		return fmt.Sprintf("rank %d had not called Recv for it", w.peer)
	case w.theirs == nil:
		return fmt.Sprintf("rank %d had not sent it", w.peer)
	case w.theirs.State == "done" && !w.send:
		return fmt.Sprintf("rank %d had sent it", w.peer)
	}
	return fmt.Sprintf("rank %d was in it, too", w.peer)
}

// unlike finds a message whose ends are not the same to sender and receiver.
func (r *Report) unlike(id uint32) string {
	for _, w := range r.waits(id) {
		if t := w.theirs; t != nil && (t.Bytes != w.op.Bytes || t.DType != w.op.DType) {
			return fmt.Sprintf("message %d: rank %d called %s, rank %d called %s", w.op.Seq, w.rank, w.op.Call, w.peer, t.Call)
		}
	}
	return ""
}

// stuck says who waits for whom in Send and Recv: ranks that wait for each other,
// or, in a group that failed, the one that was waited for longest. Where others wait
// in a collective, it only matters if that is what kept a rank from it.
func (r *Report) stuck(id uint32) string {
	waits := slices.DeleteFunc(r.waits(id), func(w wait) bool {
		return w.theirs != nil || w.known && !r.seenAfter(w.peer, w.rank, w.op)
	})
	if text := r.circle(id, waits); text != "" || !r.failed(id) {
		return text
	}
	if _, late := r.late(id); late != nil {
		waits = slices.DeleteFunc(waits, func(w wait) bool { return !slices.Contains(late, w.rank) })
	}
	// A rank that waits itself is not where it began.
	ends := slices.DeleteFunc(slices.Clone(waits), func(w wait) bool {
		return slices.ContainsFunc(waits, func(o wait) bool { return o.rank == w.peer })
	})
	if len(ends) == 0 {
		return ""
	}
	w := slices.MaxFunc(ends, func(a, b wait) int { return int(a.op.Took - b.op.Took) })
	return r.tell(id, &w)
}

// tell puts one wait into words.
func (r *Report) tell(id uint32, w *wait) string {
	text := fmt.Sprintf("rank %d waited in %s, for %v: %s", w.rank, w, w.op.Took.Round(time.Millisecond), w.because())
	if d := r.byRank[w.peer]; d != nil {
		if g := of(d, id); g != nil && len(g.Operations) > 0 {
			o := g.Operations[len(g.Operations)-1]
			text += fmt.Sprintf("; its last collective was #%d, %s, %s", o.Seq, o.Call, o.State)
		}
	}
	return text
}

// circle finds ranks that wait for each other: in messages, and in collectives that
// the next one has not come to because it waits for a message.
func (r *Report) circle(id uint32, waits []wait) string {
	what := map[int]map[int]string{} // what each rank waits in, by who it waits for
	add := func(rank, peer int, in string) {
		if what[rank] == nil {
			what[rank] = map[int]string{}
		}
		what[rank][peer] = in
	}
	if op, late := r.late(id); op != nil {
		for rank, d := range r.byRank {
			g := of(d, id)
			if g == nil || len(g.Operations) == 0 {
				continue
			}
			if o := &g.Operations[len(g.Operations)-1]; o.Seq != op.Seq || o.State == "done" {
				continue
			}
			for _, l := range late {
				add(rank, l, fmt.Sprintf("%s, #%d", op.Call, op.Seq))
			}
		}
	}
	for i := range waits {
		add(waits[i].rank, waits[i].peer, waits[i].String())
	}
	for i := range waits {
		path := roundTrip(what, waits[i].rank)
		if path == nil {
			continue
		}
		text := ranks(slices.Sorted(slices.Values(path))) + " wait for each other:"
		for k, rank := range path {
			if k > 0 {
				text += ","
			}
			text += fmt.Sprintf(" rank %d in %s", rank, what[rank][path[(k+1)%len(path)]])
		}
		return text
	}
	return ""
}

// roundTrip is the shortest way from a rank, over those that each waits for, back to
// it; nil if there is none.
func roundTrip(what map[int]map[int]string, home int) []int {
	from := map[int]int{}
	for queue := []int{home}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, next := range slices.Sorted(maps.Keys(what[at])) {
			if next == home {
				path := []int{at}
				for ; at != home; path = append(path, at) {
					at = from[at]
				}
				slices.Reverse(path)
				return path
			}
			if _, seen := from[next]; !seen {
				from[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// failed reports whether the group did, at any rank.
func (r *Report) failed(id uint32) bool {
	for _, d := range r.byRank {
		if g := of(d, id); g != nil && g.Failure != nil {
			return true
		}
	}
	return false
}
