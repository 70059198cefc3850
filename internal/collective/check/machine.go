package check

import (
	"fmt"

	"thundercollective/internal/collective"
)

// A machine executes the schedules of a group on symbols.
type machine struct {
	u     *universe
	all   uint64 // every rank
	ranks []rank
	links [][]link // by sender, then by receiver
}

// A rank is the state of one rank.
type rank struct {
	schedule *collective.Schedule
	next     []int // by lane: the action to execute
	memory   [3][]expr
	pending  [3][]int32 // how many sends under way cover an element
	heard    uint64     // ranks known to have started
}

// A link is one direction between two ranks.
type link struct {
	posted []message
	taken  int
}

type message struct {
	src   collective.Slice
	heard uint64 // what the sender knew
}

func newMachine(schedules []*collective.Schedule) *machine {
	n := len(schedules)
	m := &machine{u: newUniverse(n), ranks: make([]rank, n), links: make([][]link, n)}
	for i, s := range schedules {
		m.all |= 1 << i
		m.links[i] = make([]link, n)
		r := &m.ranks[i]
		r.schedule = s
		r.next = make([]int, len(s.Lanes))
		r.heard = 1 << i
		for b, n := range [3]int{s.Main, s.Input, s.Scratch} {
			r.memory[b] = make([]expr, n)
			r.pending[b] = make([]int32, n)
		}
	}
	return m
}

// run executes until nothing moves, and fails unless everything is at its end.
func (m *machine) run() error {
	for moved := true; moved; {
		moved = false
		for r := range m.ranks {
			for l := range m.ranks[r].schedule.Lanes {
				for {
					ok, err := m.step(r, l)
					if err != nil {
						i := m.ranks[r].next[l]
						return fmt.Errorf("rank %d, lane %d, action %d %s: %w", r, l, i, describe(&m.ranks[r].schedule.Lanes[l][i]), err)
					}
					if !ok {
						break
					}
					moved = true
				}
			}
		}
	}
	for r := range m.ranks {
		for l, lane := range m.ranks[r].schedule.Lanes {
			if i := m.ranks[r].next[l]; i < len(lane) {
				return fmt.Errorf("deadlock: rank %d, lane %d is stuck at action %d %s", r, l, i, describe(&lane[i]))
			}
		}
		for p := range m.links[r] {
			if k := &m.links[r][p]; k.taken < len(k.posted) {
				return fmt.Errorf("rank %d never receives %v from rank %d", p, k.posted[k.taken].src, r)
			}
		}
	}
	return nil
}

// step executes the next action of a lane, if it can.
func (m *machine) step(r, l int) (bool, error) {
	me := &m.ranks[r]
	lane := me.schedule.Lanes[l]
	if me.next[l] == len(lane) {
		return false, nil
	}
	a := &lane[me.next[l]]
	if a.Step == collective.SendStep {
		k := &m.links[r][a.Peer]
		k.posted = append(k.posted, message{a.Src, me.heard})
		me.count(a.Src, +1)
		me.next[l]++
		return true, nil
	}
	if !me.free(a.Dst) {
		return false, nil
	}
	var in []expr
	switch a.Step {
	case collective.RecvStep, collective.RecvReduceStep:
		k := &m.links[a.Peer][r]
		if k.taken == len(k.posted) {
			return false, nil
		}
		msg := k.posted[k.taken]
		if msg.src.Len != a.Dst.Len {
			return false, fmt.Errorf("the message is %v, %d elements long", msg.src, msg.src.Len)
		}
		k.taken++
		peer := &m.ranks[a.Peer]
		peer.count(msg.src, -1)
		in = peer.at(msg.src)
		me.heard |= msg.heard
	default:
		in = me.at(a.Src)
	}
	if err := m.write(me, a, in); err != nil {
		return false, err
	}
	me.next[l]++
	return true, nil
}

// write sets the destination of an action from what came in and its argument.
func (m *machine) write(me *rank, a *collective.Action, in []expr) error {
	dst := me.at(a.Dst)
	if a.Step == collective.RecvStep || a.Step == collective.CopyStep {
		for i, e := range in {
			if e == undefined {
				return fmt.Errorf("moves an undefined element %d", i)
			}
			dst[i] = e
		}
		return nil
	}
	arg := me.at(a.Arg)
	for i := range dst {
		left, right := arg[i], in[i]
		if a.IncomingFirst {
			left, right = right, left
		}
		e, err := m.u.combine(left, right)
		if err != nil {
			return err
		}
		if a.Final {
			if e, err = m.u.finish(e, m.all); err != nil {
				return err
			}
		}
		dst[i] = e
	}
	return nil
}

func (r *rank) at(s collective.Slice) []expr { return r.memory[s.Buf][s.Off:s.End()] }

func (r *rank) count(s collective.Slice, by int32) {
	p := r.pending[s.Buf][s.Off:s.End()]
	for i := range p {
		p[i] += by
	}
}

// free reports whether no send under way covers an element of s.
func (r *rank) free(s collective.Slice) bool {
	for _, n := range r.pending[s.Buf][s.Off:s.End()] {
		if n > 0 {
			return false
		}
	}
	return true
}

func describe(a *collective.Action) string {
	switch a.Step {
	case collective.SendStep:
		return fmt.Sprintf("(send %v to %d)", a.Src, a.Peer)
	case collective.RecvStep:
		return fmt.Sprintf("(recv %v from %d)", a.Dst, a.Peer)
	case collective.RecvReduceStep:
		return fmt.Sprintf("(recv %v = %v op incoming from %d)", a.Dst, a.Arg, a.Peer)
	case collective.CopyStep:
		return fmt.Sprintf("(copy %v = %v)", a.Dst, a.Src)
	}
	return fmt.Sprintf("(%v %v = %v op %v)", a.Step, a.Dst, a.Arg, a.Src)
}
