package liveness

import (
	"fmt"
	"slices"
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
	Broke    bool          // its connection broke; if false, it is silent
	At       time.Duration // by the accuser's clock

	due   time.Duration // when a verdict is due because of it
	later string        // cause of the connection that broke later; "" if none did
}

// A Withdrawal takes back the accusations of silence that a rank had made against another
// until At, by the accuser's clock: it has heard from it again.
type Withdrawal struct {
	By, Rank int
	At       time.Duration
}

// A Verdict names the rank that is dead. If Cut is set it is this rank, which hears from
// no other.
type Verdict struct {
	Rank  int
	Cause string
	Cut   bool
}

// An Outcome is what to do after a tick: accusations and withdrawals to send to all
// ranks, ranks whose machines to ask, and the verdict, if there is one.
type Outcome struct {
	Withdraw []Withdrawal
	Accuse   []Accusation
	Ask      []int
	Verdict  *Verdict
}

// A Monitor is one rank's view of the others. Times are relative to any fixed moment, and
// must not decrease.
type Monitor struct {
	cfg   Config
	ranks []rank
	last  time.Duration // the last tick
	due   time.Duration // when the verdict is due, if open
	open  bool          // there are accusations
	heard []Withdrawal  // by this rank, which the others have not been told
}

// rank is what is known of one rank.
type rank struct {
	met      bool          // something has arrived from it
	heard    time.Duration // when something last arrived
	asked    bool          // its machine was asked, during this silence
	answer   string        // of its machine
	left     bool          // it ended normally
	dead     bool
	accusers []Accusation          // one per accuser
	cleared  map[int]time.Duration // by accuser, until when its accusations were withdrawn
}

// New returns the Monitor of a job that starts now.
func New(cfg Config, now time.Duration) *Monitor {
	m := &Monitor{cfg: cfg, ranks: make([]rank, cfg.Size), last: now}
	for r := range m.ranks {
		m.ranks[r].heard = now
	}
	return m
}

// Heard records that something arrived from a rank. It reports whether this rank had
// accused it of silence: the next Tick returns the withdrawal.
func (m *Monitor) Heard(r int, now time.Duration) (withdrawn bool) {
	p := &m.ranks[r]
	p.met, p.heard, p.asked, p.answer = true, now, false, ""
	for _, a := range p.accusers {
		if a.By == m.cfg.Self && !a.Broke {
			w := Withdrawal{By: m.cfg.Self, Rank: r, At: now}
			m.heard = append(m.heard, w)
			m.Withdraw(w, now)
			return true
		}
	}
	return false
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
	m.schedule()
}

// Dead reports whether a rank was convicted.
func (m *Monitor) Dead(r int) bool { return m.ranks[r].dead }

// Accuse records an accusation by this rank or another. It reports whether it is new. A
// connection that breaks is news also if the rank is accused of silence: that accusation
// can be withdrawn.
func (m *Monitor) Accuse(a Accusation, now time.Duration) bool {
	p := &m.ranks[a.Rank]
	if p.dead || p.left || m.ranks[a.By].dead || a.By == a.Rank {
		return false
	}
	if until, ok := p.cleared[a.By]; ok && !a.Broke && a.At <= until {
		return false // the withdrawal came another way, and sooner
	}
	a.due = now + m.cfg.settle(a.Broke)
	for i := range p.accusers {
		switch old := &p.accusers[i]; {
		case old.By != a.By:
		case old.Broke:
			return false
		case a.Broke && old.later == "":
			old.later = a.Cause
			return true
		case !a.Broke && a.At > old.At:
			old.At = a.At
			return true
		default:
			return false
		}
	}
	p.accusers = append(p.accusers, a)
	m.schedule()
	return true
}

// Withdraw takes back accusations of silence. It reports whether that is news. The other
// accusations of silence get the time to be withdrawn, too: what ended may have been one
// outage, and the rank that was cut off may be the accuser.
func (m *Monitor) Withdraw(w Withdrawal, now time.Duration) bool {
	p := &m.ranks[w.Rank]
	if until, ok := p.cleared[w.By]; ok && w.At <= until {
		return false
	}
	if p.cleared == nil {
		p.cleared = map[int]time.Duration{}
	}
	p.cleared[w.By] = w.At
	for i, a := range p.accusers {
		if a.By != w.By || a.Broke || a.At > w.At {
			continue
		}
		if a.later != "" {
			p.accusers[i].Cause, p.accusers[i].Broke = a.later, true
		} else {
			p.accusers = slices.Delete(p.accusers, i, i+1)
		}
		m.postpone(now)
		break
	}
	return true
}

// postpone gives accusations of silence the time that they get when they are new.
func (m *Monitor) postpone(now time.Duration) {
	for r := range m.ranks {
		list := m.ranks[r].accusers
		for i := range list {
			if !list[i].Broke {
				list[i].due = now + m.cfg.settle(false)
			}
		}
	}
	m.schedule()
}

// Convict adopts a verdict. It reports whether it is new.
func (m *Monitor) Convict(r int, now time.Duration) bool {
	p := &m.ranks[r]
	if p.dead {
		return false
	}
	p.dead, p.accusers = true, nil
	for i := range m.ranks {
		q := &m.ranks[i]
		kept := q.accusers[:0]
		for _, a := range q.accusers {
			if a.By != r {
				a.due = now + m.cfg.settle(a.Broke)
				kept = append(kept, a)
			}
		}
		q.accusers = kept
	}
	m.schedule()
	return true
}

// schedule sets when the verdict is due: when it is for the first of the accusations.
func (m *Monitor) schedule() {
	m.open = false
	for r := range m.ranks {
		for _, a := range m.ranks[r].accusers {
			if !m.open || a.due < m.due {
				m.open, m.due = true, a.due
			}
		}
	}
}

// Due returns when a verdict will be due, and whether there are accusations at all.
func (m *Monitor) Due() (time.Duration, bool) { return m.due, m.open }

// Tick checks for silent ranks and due verdicts.
func (m *Monitor) Tick(now time.Duration) (out Outcome) {
	if now-m.last > m.cfg.Timeout/4 {
		// This rank did not run. What was sent in the meantime has not been read: signs of
		// life, and withdrawals.
		for r := range m.ranks {
			m.ranks[r].heard = now
		}
		m.postpone(now)
	}
	m.last = now
	out.Withdraw, m.heard = m.heard, nil
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
	if silent < limit || p.accusedBy(m.cfg.Self) {
		return
	}
	a := Accusation{By: m.cfg.Self, Rank: r, Cause: p.silence(silent), At: now}
	if m.Accuse(a, now) {
		out.Accuse = append(out.Accuse, a)
	}
}

// accusedBy reports whether a rank accuses this one.
func (p *rank) accusedBy(by int) bool {
	return slices.ContainsFunc(p.accusers, func(a Accusation) bool { return a.By == by })
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
