package liveness

import (
	"fmt"
	"strings"
	"time"
)

// A Config describes the job to a Monitor.
type Config struct {
	Self, Size int
	// Timeout is how long it may take to detect a rank that vanished.
	Timeout time.Duration
	// Grace is how long a rank may take to start. It has one Timeout more for its first
	// message to arrive: a rank that gives up starting says for whom it waited.
	Grace time.Duration
}

// Beat returns the interval between heartbeats.
func (c Config) Beat() time.Duration { return c.Timeout / 8 }

// Tick returns the interval at which Monitor.Tick has to be called.
func (c Config) Tick() time.Duration { return c.Timeout / 16 }

// silence returns how long a rank may be silent before it is accused.
func (c Config) silence() time.Duration { return c.Timeout * 3 / 4 }

// mostSettle bounds the wait after a connection broke: the time that accusations need to
// arrive does not grow with the timeout.
const mostSettle = 150 * time.Millisecond

// settle returns how long to wait for other accusations.
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
	Broke    bool // its connection broke; if false, it is silent
}

// A Verdict names the rank that is dead. If Cut is set it is this rank, which hears from
// no other.
type Verdict struct {
	Rank  int
	Cause string
	Cut   bool
}

// An Outcome is what to do after a tick: accusations to send to all ranks, ranks whose
// machines to ask, and the verdict, if there is one.
type Outcome struct {
	Accuse  []Accusation
	Ask     []int
	Verdict *Verdict
}

// A Monitor is one rank's view of the others. Times are relative to any fixed moment, and
// must not decrease.
type Monitor struct {
	cfg   Config
	ranks []rank
	last  time.Duration // the last tick
	due   time.Duration // when the verdict is due, if open
	open  bool          // there are accusations
}

// rank is what is known of one rank.
type rank struct {
	met      bool          // something has arrived from it
	heard    time.Duration // when something last arrived
	asked    bool          // its machine was asked, during this silence
	answer   string        // of its machine
	left     bool          // it ended normally
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

// Heard records that something arrived from a rank.
func (m *Monitor) Heard(r int, now time.Duration) {
	p := &m.ranks[r]
	p.met, p.heard, p.asked, p.answer = true, now, false, ""
}

// Silent returns how long nothing has arrived from a rank.
func (m *Monitor) Silent(r int, now time.Duration) time.Duration { return now - m.ranks[r].heard }

// Answered records the answer of a rank's machine.
func (m *Monitor) Answered(r int, what string) {
	if p := &m.ranks[r]; p.asked {
		p.answer = what
	}
}

// Left records that a rank ends normally: it will be silent, and its connections will
// break.
func (m *Monitor) Left(r int) {
	m.ranks[r].left = true
	m.ranks[r].accusers = nil
}

// Dead reports whether a rank was convicted.
func (m *Monitor) Dead(r int) bool { return m.ranks[r].dead }

// Accuse records an accusation by this rank or another. It reports whether it is new.
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

// Convict adopts a verdict. It reports whether it is new.
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

// Due returns when a verdict will be due, and whether there are accusations at all.
func (m *Monitor) Due() (time.Duration, bool) { return m.due, m.open }

// Tick checks for silent ranks and due verdicts.
func (m *Monitor) Tick(now time.Duration) (out Outcome) {
	if now-m.last > m.cfg.Timeout/4 {
		// This rank did not run. What was sent in the meantime has not been read.
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

// answerMark separates a cause from what the machine answered.
const answerMark = "; "

// silence describes a silence.
func (p *rank) silence(d time.Duration) string {
	s := fmt.Sprintf("no heartbeat for %v", d.Round(10*time.Millisecond))
	if p.answer != "" {
		s += answerMark + p.answer
	}
	return s
}

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
