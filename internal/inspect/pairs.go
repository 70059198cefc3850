package inspect

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"thundercollective/internal/recorder"
)

// A wait is a message that a rank had started to send or receive and not completed.
type wait struct {
	rank, peer int
	send       bool
	op         *recorder.Operation
	theirs     *recorder.Operation // the peer's end of the message; nil if the peer has not called it
	known      bool                // whether there is a dump of the peer
}

// messages returns what a rank recorded of the messages with a peer in one direction.
func messages(g *recorder.Group, peer int, d recorder.Direction) []recorder.Operation {
	for i := range g.Pairs {
		if p := &g.Pairs[i]; p.Peer == peer && p.Direction == d {
			return p.Operations
		}
	}
	return nil
}

// waits returns the messages of a group that were not completed, ordered by rank.
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

// otherSide returns what the peer recorded of a message.
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

// String describes the wait for a table.
func (w *wait) String() string {
	return fmt.Sprintf("%s, message %d", w.op.Call, w.op.Seq)
}

// because explains why the message is not complete.
func (w *wait) because() string {
	switch {
	case !w.known:
		return fmt.Sprintf("rank %d left no dump", w.peer)
	case w.theirs == nil && w.send:
		return fmt.Sprintf("rank %d had not called Recv for it", w.peer)
	case w.theirs == nil:
		return fmt.Sprintf("rank %d had not sent it", w.peer)
	case w.theirs.State == "done" && !w.send:
		return fmt.Sprintf("rank %d had sent it", w.peer)
	}
	return fmt.Sprintf("rank %d was waiting for it as well", w.peer)
}

// unlike finds a message whose sender and receiver do not agree on its length or type.
func (r *Report) unlike(id uint32) string {
	for _, w := range r.waits(id) {
		if t := w.theirs; t != nil && (t.Bytes != w.op.Bytes || t.DType != w.op.DType) {
			return fmt.Sprintf("message %d: rank %d called %s, rank %d called %s", w.op.Seq, w.rank, w.op.Call, w.peer, t.Call)
		}
	}
	return ""
}

// stuck reports which rank waits for which in Send and Recv: ranks that wait for each other
// or, in a group that failed, the longest wait. If other ranks wait in a collective, only a
// wait that kept a rank from it matters.
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
	// A rank that is waiting itself is not the cause.
	ends := slices.DeleteFunc(slices.Clone(waits), func(w wait) bool {
		return slices.ContainsFunc(waits, func(o wait) bool { return o.rank == w.peer })
	})
	if len(ends) == 0 {
		return ""
	}
	w := slices.MaxFunc(ends, func(a, b wait) int { return int(a.op.Took - b.op.Took) })
	return r.tell(id, &w)
}

// tell describes one wait.
func (r *Report) tell(id uint32, w *wait) string {
	text := fmt.Sprintf("rank %d waited %v in %s: %s", w.rank, w.op.Took.Round(time.Millisecond), w, w.because())
	if d := r.byRank[w.peer]; d != nil {
		if g := of(d, id); g != nil && len(g.Operations) > 0 {
			o := g.Operations[len(g.Operations)-1]
			text += fmt.Sprintf("; its last collective was #%d, %s, %s", o.Seq, o.Call, o.State)
		}
	}
	return text
}

// circle finds ranks that wait for each other: in messages, and in collectives that the
// next rank has not reached because it waits for a message.
func (r *Report) circle(id uint32, waits []wait) string {
	what := map[int]map[int]string{} // what[rank][peer] is the call in which rank waits for peer
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
		path := shortestCircle(what, waits[i].rank)
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

// shortestCircle returns the shortest path from a rank along "waits for" back to it, or nil
// if there is none.
func shortestCircle(what map[int]map[int]string, home int) []int {
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

// failed reports whether the group failed on any rank.
func (r *Report) failed(id uint32) bool {
	for _, d := range r.byRank {
		if g := of(d, id); g != nil && g.Failure != nil {
			return true
		}
	}
	return false
}
