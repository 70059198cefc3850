package inspect

import (
	"errors"
	"slices"
	"time"

	"thundercollective/internal/recorder"
)

// A Report combines the dumps of one generation.
type Report struct {
	Verdict    string   `json:"verdict"` // one line
	Healthy    bool     `json:"healthy"` // nothing is wrong
	Generation uint32   `json:"generation"`
	Size       int      `json:"size"`
	Missing    []int    `json:"missing,omitempty"`    // ranks without a dump
	Unanswered []string `json:"unanswered,omitempty"` // addresses of ranks that did not answer
	Ranks      []Rank   `json:"ranks"`                // those with a dump, in order

	byRank map[int]*Dump
	shift  map[int]time.Duration // to add to a rank's clock
}

// A Rank is one line of the table. It is about the most important group: one that failed,
// or else the group of all ranks.
type Rank struct {
	Rank    int           `json:"rank"`
	Host    string        `json:"host"`
	Group   uint32        `json:"group"`
	Seq     uint64        `json:"seq"`   // of its last operation
	Call    string        `json:"call"`  // that operation
	State   string        `json:"state"` // running, done or failed
	Took    time.Duration `json:"took_ns"`
	Late    time.Duration `json:"late_ns"`         // median time behind the first rank to arrive
	Waits   []string      `json:"waits,omitempty"` // messages that it has not completed
	Failure string        `json:"failure,omitempty"`
}

// Examine merges dumps. It ignores those of all but the latest generation. unanswered are
// the addresses of ranks that were asked for theirs in vain.
func Examine(dumps []*Dump, unanswered ...string) (*Report, error) {
	if len(dumps) == 0 {
		return nil, errors.New("no dumps to examine")
	}
	r := &Report{Unanswered: unanswered, byRank: map[int]*Dump{}, shift: map[int]time.Duration{}}
	for _, d := range dumps {
		r.Generation = max(r.Generation, d.Generation)
	}
	for _, d := range dumps {
		if d.Generation != r.Generation {
			continue
		}
		if old := r.byRank[d.Rank]; old == nil || old.Time.Before(d.Time) {
			r.byRank[d.Rank] = d
		}
		r.Size = max(r.Size, d.Size)
	}
	for rank := range r.Size {
		if r.byRank[rank] == nil {
			r.Missing = append(r.Missing, rank)
		}
	}
	group := r.subject()
	r.align(group)
	late := r.lateness(group)
	for rank := range r.Size {
		if d := r.byRank[rank]; d != nil {
			r.Ranks = append(r.Ranks, line(d, group, late[rank]))
		}
	}
	for _, w := range r.waits(group) {
		i := slices.IndexFunc(r.Ranks, func(l Rank) bool { return l.Rank == w.rank })
		r.Ranks[i].Waits = append(r.Ranks[i].Waits, w.String())
	}
	r.judge(group)
	return r, nil
}

// subject returns the most important group: one that failed; or else the one in which a
// rank has been in an operation for longest, if that is long; or else that of all ranks.
func (r *Report) subject() uint32 {
	id, longest := uint32(1), tooLong
	for rank := range r.Size {
		d := r.byRank[rank]
		if d == nil {
			continue
		}
		for _, g := range d.Groups {
			if g.Failure != nil {
				return g.ID
			}
			if n := len(g.Operations); n > 0 && g.Operations[n-1].State == recorder.Running.String() && g.Operations[n-1].Took > longest {
				id, longest = g.ID, g.Operations[n-1].Took
			}
		}
	}
	return id
}

// of returns what a rank recorded of a group, or nil.
func of(d *Dump, id uint32) *recorder.Group {
	for i := range d.Groups {
		if d.Groups[i].ID == id {
			return &d.Groups[i]
		}
	}
	return nil
}

func line(d *Dump, id uint32, late time.Duration) Rank {
	l := Rank{Rank: d.Rank, Host: d.Host, Group: id, State: "not in the group", Late: late}
	g := of(d, id)
	if g == nil {
		return l
	}
	l.State = "idle"
	if n := len(g.Operations); n > 0 {
		o := &g.Operations[n-1]
		l.Seq, l.Call, l.State, l.Took = o.Seq, o.Call, o.State, o.Took
	}
	if g.Failure != nil {
		l.Failure = g.Failure.Text
	}
	return l
}

// shared calls f for every operation of a group that is in all dumps, with each rank's
// record of it.
func (r *Report) shared(id uint32, f func(ops map[int]*recorder.Operation)) {
	bySeq := map[uint64]map[int]*recorder.Operation{}
	members := 0
	for rank, d := range r.byRank {
		g := of(d, id)
		if g == nil {
			continue
		}
		members++
		for i := range g.Operations {
			o := &g.Operations[i]
			if bySeq[o.Seq] == nil {
				bySeq[o.Seq] = map[int]*recorder.Operation{}
			}
			bySeq[o.Seq][rank] = o
		}
	}
	seqs := make([]uint64, 0, len(bySeq))
	for seq, ops := range bySeq {
		if len(ops) == members {
			seqs = append(seqs, seq)
		}
	}
	slices.Sort(seqs)
	for _, seq := range seqs {
		f(bySeq[seq])
	}
}

// together reports whether no rank can end the operation before all ranks have started it.
func together(kind string) bool {
	switch kind {
	case "allreduce", "allgather", "barrier", "alltoall", "reducescatter":
		return true
	}
	return false
}

// align computes the differences between the ranks' clocks.
func (r *Report) align(id uint32) {
	base := -1
	for rank := range r.Size {
		if r.byRank[rank] != nil {
			base = rank
			break
		}
	}
	diffs := map[int][]time.Duration{}
	r.shared(id, func(ops map[int]*recorder.Operation) {
		first := ops[base]
		if first == nil || !together(first.Kind) || first.State != "done" {
			return
		}
		for rank, o := range ops {
			if o.State == "done" {
				diffs[rank] = append(diffs[rank], first.Begin.Add(first.Took).Sub(o.Begin.Add(o.Took)))
			}
		}
	})
	for rank, list := range diffs {
		r.shift[rank] = median(list)
	}
}

// lateness returns how long after the first rank each rank started its operations (the
// median).
func (r *Report) lateness(id uint32) map[int]time.Duration {
	behind := map[int][]time.Duration{}
	r.shared(id, func(ops map[int]*recorder.Operation) {
		var first time.Time
		for rank, o := range ops {
			if at := o.Begin.Add(r.shift[rank]); first.IsZero() || at.Before(first) {
				first = at
			}
		}
		for rank, o := range ops {
			behind[rank] = append(behind[rank], o.Begin.Add(r.shift[rank]).Sub(first))
		}
	})
	late := map[int]time.Duration{}
	for rank, list := range behind {
		late[rank] = median(list)
	}
	return late
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
