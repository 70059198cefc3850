package membership

// Kind says what a Message is.
type Kind uint8

// The messages. Prepare, Accept and Decide come from a leader, the others answer.
const (
	Prepare  Kind = 1 + iota // may I lead with this ballot?
	Promise                  // yes, and this is what I accepted before, in ballot Last
	Refuse                   // no: I promised Ballot to another
	Accept                   // let us be Set
	Accepted                 // agreed
	Decide                   // we are Set
)

// A Message goes from one rank of the group to another.
type Message struct {
	Kind     Kind
	From, To int
	Ballot   uint32
	Last     uint32
	Set      Set
}

type phase uint8

const (
	idle phase = iota
	preparing
	accepting
)

// A Machine is one rank's part in the agreement. It starts when the rank takes part,
// and must not be forgotten when it has decided, as long as the group's ranks live:
// others may still ask.
type Machine struct {
	self, size int
	gone       Set

	promised uint32 // ballots below are refused
	last     uint32 // ballot of the set accepted; 0 for none
	set      Set

	phase   phase // of the ballot this rank leads
	ballot  uint32
	answers Set // ranks that promised, then that accepted
	best    uint32
	value   Set

	decided  bool
	decision Set

	out []Message
}

// New returns the machine of a rank that begins to take part. gone are the ranks
// known to be gone.
func New(self, size int, gone Set) *Machine {
	m := &Machine{self: self, size: size, gone: gone}
	m.lead()
	return m
}

// Take returns what is to be sent.
func (m *Machine) Take() []Message {
	out := m.out
	m.out = nil
	return out
}

// Decided returns the set, once there is one.
func (m *Machine) Decided() (Set, bool) { return m.decision, m.decided }

// Hopeless says that too many are gone for a decision.
func (m *Machine) Hopeless() bool {
	var left Set
	for r := range m.size {
		if !m.gone.Has(r) {
			left.Add(r)
		}
	}
	return !m.decided && !left.Quorum(m.size)
}

// Waiting lists the ranks that a leader waits for; a rank that does not lead waits
// for its leader.
func (m *Machine) Waiting() []int {
	if m.phase == idle {
		return []int{m.leader()}
	}
	var list []int
	for r := range m.size {
		if !m.gone.Has(r) && !m.answers.Has(r) {
			list = append(list, r)
		}
	}
	return list
}

// Gone notes that a rank is gone.
func (m *Machine) Gone(rank int) {
	if rank == m.self || m.gone.Has(rank) {
		return
	}
	m.gone.Add(rank)
	if m.phase == preparing {
		m.propose()
	}
	m.lead()
}

// Tick repeats what has not been answered: whom it was sent to may not have taken
// part yet.
func (m *Machine) Tick() {
	m.lead()
	if m.phase != idle && !m.decided {
		m.ask()
	}
}

// leader is the lowest rank that is not known to be gone.
func (m *Machine) leader() int {
	r := 0
	for r < m.self && m.gone.Has(r) {
		r++
	}
	return r
}

// lead begins a ballot, if that is this rank's part and none is under way.
func (m *Machine) lead() {
	if m.decided || m.phase != idle || m.leader() != m.self {
		return
	}
	round := m.promised/uint32(m.size) + 1
	m.phase, m.ballot = preparing, round*uint32(m.size)+uint32(m.self)
	m.answers, m.best, m.value = Set{}, 0, Set{}
	m.ask()
}

// ask sends the question of the phase to all that have not answered it.
func (m *Machine) ask() {
	kind := Prepare
	if m.phase == accepting {
		kind = Accept
	}
	for r := range m.size {
		if !m.answers.Has(r) && (r == m.self || !m.gone.Has(r)) {
			m.send(Message{Kind: kind, To: r, Ballot: m.ballot, Set: m.value})
		}
	}
}

// send puts a message out; what a rank tells itself takes effect at once.
func (m *Machine) send(msg Message) {
	msg.From = m.self
	if msg.To == m.self {
		m.Step(msg)
		return
	}
	m.out = append(m.out, msg)
}

// Step takes a message.
func (m *Machine) Step(msg Message) {
	if m.decided {
		if msg.Kind == Prepare || msg.Kind == Accept {
			m.send(Message{Kind: Decide, To: msg.From, Set: m.decision})
		}
		return
	}
	switch msg.Kind {
	case Prepare:
		if msg.Ballot < m.promised {
			m.send(Message{Kind: Refuse, To: msg.From, Ballot: m.promised})
			return
		}
		m.yield(msg.Ballot)
		m.send(Message{Kind: Promise, To: msg.From, Ballot: msg.Ballot, Last: m.last, Set: m.set})
	case Accept:
		if msg.Ballot < m.promised {
			m.send(Message{Kind: Refuse, To: msg.From, Ballot: m.promised})
			return
		}
		m.yield(msg.Ballot)
		m.last, m.set = msg.Ballot, msg.Set
		m.send(Message{Kind: Accepted, To: msg.From, Ballot: msg.Ballot})
	case Refuse:
		m.yield(msg.Ballot)
	case Promise:
		if m.phase != preparing || msg.Ballot != m.ballot {
			return
		}
		m.answers.Add(msg.From)
		if msg.Last > m.best {
			m.best, m.value = msg.Last, msg.Set
		}
		m.propose()
	case Accepted:
		if m.phase != accepting || msg.Ballot != m.ballot {
			return
		}
		m.answers.Add(msg.From)
		if m.answers.Quorum(m.size) {
			m.decide(m.value)
		}
	case Decide:
		m.decide(msg.Set)
	}
}

// yield promises a ballot, and gives up a lower one of this rank's own. The next
// tick begins another, if it is still this rank's part.
func (m *Machine) yield(ballot uint32) {
	m.promised = max(m.promised, ballot)
	if m.phase != idle && m.ballot < m.promised {
		m.phase = idle
	}
}

// propose goes on to the second phase when everybody has answered or is gone, and
// those that answered are a quorum.
func (m *Machine) propose() {
	if !m.answers.Quorum(m.size) {
		return
	}
	for r := range m.size {
		if !m.answers.Has(r) && !m.gone.Has(r) {
			return
		}
	}
	if m.best == 0 {
		m.value = m.answers
	}
	m.phase, m.answers = accepting, Set{}
	m.ask()
}

// decide ends the agreement and tells the members.
func (m *Machine) decide(s Set) {
	m.decided, m.decision, m.phase = true, s, idle
	for _, r := range s.Ranks() {
		if r != m.self {
			m.out = append(m.out, Message{Kind: Decide, From: m.self, To: r, Set: s})
		}
	}
}
