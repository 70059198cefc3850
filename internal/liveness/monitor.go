package liveness

import (
	"fmt"
	"strings"
	"time"
)

// A Config describes the job to a Monitor.
type Config struct {
	Self, Size int
	// Timeout is how long it may take to notice a rank that vanished.
	Timeout time.Duration
	// Grace is how long a rank may take to start. It has the time of a silence more to be
	// heard of: if it gives up, it says for whom it waited.
	Grace time.Duration
}

// Beat is how often heartbeats are sent.
func (c Config) Beat() time.Duration { return c.Timeout / 8 }

// Tick is how often a Monitor wants to be asked.
func (c Config) Tick() time.Duration { return c.Timeout / 16 }

func (c Config) silence() time.Duration { return c.Timeout * 3 / 4 }

// mostSettle bounds the wait after a connection broke: that the others hear of it takes
// no longer where silence is given more time.
const mostSettle = 150 * time.Millisecond

// settle is how long accusations of a kind are waited for.
func (c Config) settle(broke bool) time.Duration {
	if broke {
		return min(c.Timeout/20, mostSettle)
	}
	return c.Timeout / 8
}

// An Accusation is one rank's evidence against another.
type Accusation struct {
	By, Rank int
	Cause    string
	Broke    bool // its connection broke; else it is silent
}

// A Verdict says who is dead. Cut means that it is this rank, which hears from
// nobody.
type Verdict struct {
	Rank  int
	Cause string
	Cut   bool
}

// An Outcome is what there is to do after a tick: accusations to tell everybody,
// ranks whose machines to ask, and the verdict, if there is one.
type Outcome struct {
	Accuse  []Accusation
	Ask     []int
	Verdict *Verdict
}

// A Monitor is one rank's view of the others. Times are since any fixed moment, and
// never go back.
type Monitor struct {
	cfg   Config
	ranks []rank
	last  time.Duration // tick
	due   time.Duration // of the verdict, if open
	open  bool
}

// rank is what is known of one.
type rank struct {
	met      bool          // was heard of
	heard    time.Duration // when, last
	asked    bool          // its machine was, in this silence
	answer   string        // what that gave
	left     bool          // in good order
	dead     bool
	accusers []Accusation // one per accuser
}

// New returns the Monitor of a job that starts now.
func New(cfg Config, now time.Duration) *Monitor {
	m := &Monitor{cfg: cfg, ranks: make([]rank, cfg.Size), last: now}
	for r := range m.ranks {
		m.ranks[r].heard = now
	}
	return m
}

// Heard notes that something came from a rank.
func (m *Monitor) Heard(r int, now time.Duration) {
	p := &m.ranks[r]
	p.met, p.heard, p.asked, p.answer = true, now, false, ""
}

// Silent is how long nothing has come from a rank.
func (m *Monitor) Silent(r int, now time.Duration) time.Duration { return now - m.ranks[r].heard }

// Answered notes what a rank's machine said when it was asked.
func (m *Monitor) Answered(r int, what string) {
	if p := &m.ranks[r]; p.asked {
		p.answer = what
	}
}

// Left notes that a rank leaves in good order: it will be silent, and its
// connections will break.
func (m *Monitor) Left(r int) {
	m.ranks[r].left = true
	m.ranks[r].accusers = nil
}

// Dead says whether a rank was convicted.
func (m *Monitor) Dead(r int) bool { return m.ranks[r].dead }

// Accuse notes evidence, of this rank or another. It reports whether that is new.
func (m *Monitor) Accuse(a Accusation, now time.Duration) bool {
	p := &m.ranks[a.Rank]
	if p.dead || p.left || m.ranks[a.By].dead || a.By == a.Rank {
		return false
	}
	for i := range p.accusers {
		if p.accusers[i].By == a.By {
			return false
		}
	}
	p.accusers = append(p.accusers, a)
	if due := now + m.cfg.settle(a.Broke); !m.open || due < m.due {
		m.open, m.due = true, due
	}
	return true
}

// Convict adopts a verdict. It reports whether that is new.
func (m *Monitor) Convict(r int, now time.Duration) bool {
	p := &m.ranks[r]
	if p.dead {
		return false
	}
	p.dead, p.accusers = true, nil
	m.open = false
	for i := range m.ranks {
		q := &m.ranks[i]
		kept := q.accusers[:0]
		for _, a := range q.accusers {
			if a.By != r {
				kept = append(kept, a)
			}
		}
		q.accusers = kept
		for _, a := range kept {
			if due := now + m.cfg.settle(a.Broke); !m.open || due < m.due {
				m.open, m.due = true, due
			}
		}
	}
	return true
}

// Due is when a verdict will be ready, if one is being waited for.
func (m *Monitor) Due() (time.Duration, bool) { return m.due, m.open }

// Tick looks at the clock.
func (m *Monitor) Tick(now time.Duration) (out Outcome) {
	if now-m.last > m.cfg.Timeout/4 {
		// It was us who did not run. What was sent meanwhile waits to be read.
		for r := range m.ranks {
			m.ranks[r].heard = now
		}
	}
	m.last = now
	for r := range m.ranks {
		m.listen(r, now, &out)
	}
	if m.open && now >= m.due {
		out.Verdict = m.judge(now)
		if out.Verdict != nil {
			m.Convict(out.Verdict.Rank, now)
		} else {
			m.open = false
		}
	}
	return out
}

// listen checks how long a rank has been silent.
func (m *Monitor) listen(r int, now time.Duration, out *Outcome) {
	p := &m.ranks[r]
	if r == m.cfg.Self || p.dead || p.left {
		return
	}
	limit := m.cfg.silence()
	if !p.met {
		limit += m.cfg.Grace
	}
	silent := now - p.heard
	if silent >= limit*2/3 && !p.asked {
		p.asked = true
		out.Ask = append(out.Ask, r)
	}
	if silent < limit {
		return
	}
	a := Accusation{By: m.cfg.Self, Rank: r, Cause: p.silence(silent)}
	if m.Accuse(a, now) {
		out.Accuse = append(out.Accuse, a)
	}
}

// answerMark comes before a machine's answer.
const answerMark = "; "

// silence puts it in words.
func (p *rank) silence(d time.Duration) string {
	s := fmt.Sprintf("no heartbeat for %v", d.Round(10*time.Millisecond))
	if p.answer != "" {
		s += answerMark + p.answer
	}
	return s
}

// judge picks who is to blame.
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

// cause is what the first accuser says, and what the rank's machine answered: the accuser
// may not have known yet.
func (p *rank) cause() string {
	a := p.accusers[0]
	if a.Broke || p.answer == "" || strings.Contains(a.Cause, answerMark) {
		return a.Cause
	}
	return a.Cause + answerMark + p.answer
}

// worst is the rank with most accusers that count, the highest of those with as many;
// -1 if there is none.
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

// credible says of an accuser that no more than half of the others accuse it. What a
// dying rank says of others may have reached only some.
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

// cut says whether it is this rank that hears from nobody: one of the others, of which
// there are at least two, is accused of silence, and the rest is on its way there,
// with half of that time gone.
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
		Cause: fmt.Sprintf("it hears from none of the %d others; its own network is down", others),
	}
}
