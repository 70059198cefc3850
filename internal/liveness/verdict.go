package liveness

import (
	"fmt"
	"strings"
	"time"
)

// judge decides which rank is dead.
func (m *Monitor) judge(now time.Duration) *Verdict {
	if v := m.cut(now); v != nil {
		return v
	}
	worst := m.worst(m.credible())
	if worst < 0 {
		worst = m.worst(func(int) bool { return true })
	}
	if worst < 0 {
		return nil
	}
	return &Verdict{Rank: worst, Cause: m.ranks[worst].cause()}
}

// cause returns what the first accuser said, and what the rank's machine answered: the accuser
// may not have known yet.
func (p *rank) cause() string {
	a := p.accusers[0]
	if a.Broke || p.answer == "" || strings.Contains(a.Cause, answerMark) {
		return a.Cause
	}
	return a.Cause + answerMark + p.answer
}

// worst returns the rank with the most accusers that count; of several with as many, the
// highest. It is -1 if there is none.
func (m *Monitor) worst(counts func(by int) bool) int {
	worst, most := -1, 1
	for r := range m.ranks {
		n := 0
		for _, a := range m.ranks[r].accusers {
			if counts(a.By) {
				n++
			}
		}
		if n >= most {
			worst, most = r, n
		}
	}
	return worst
}

// credible returns a function that reports whether an accuser counts: at most half of the
// other accusers accuse it. The accusations of a dying rank may have reached only some
// ranks.
func (m *Monitor) credible() func(by int) bool {
	accuses := make([]bool, len(m.ranks))
	all := 0
	for r := range m.ranks {
		for _, a := range m.ranks[r].accusers {
			if !accuses[a.By] {
				accuses[a.By] = true
				all++
			}
		}
	}
	return func(by int) bool { return 2*len(m.ranks[by].accusers) <= all-1 }
}

// cut returns a verdict against this rank if it hears from no other: of at least two
// others one is accused of silence, and all have been silent for at least half of the
// time that is allowed.
func (m *Monitor) cut(now time.Duration) *Verdict {
	others, accused := 0, false
	for r := range m.ranks {
		p := &m.ranks[r]
		if r == m.cfg.Self || p.dead || p.left {
			continue
		}
		if now-p.heard < m.cfg.silence()/2 {
			return nil
		}
		for _, a := range p.accusers {
			switch {
			case a.By != m.cfg.Self:
			case a.Broke:
				return nil
			default:
				accused = true
			}
		}
		others++
	}
	if others < 2 || !accused {
		return nil
	}
	return &Verdict{
		Rank: m.cfg.Self, Cut: true,
		Cause: fmt.Sprintf("it hears from none of the %d other ranks; its own network is down", others),
	}
}
