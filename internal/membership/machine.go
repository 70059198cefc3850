package membership

// Kind is the kind of a Message.
type Kind uint8

// The kinds. A leader sends Prepare, Accept and Decide; the others are answers.
const (
	Prepare  Kind = 1 + iota // asks to lead with Ballot
	Promise                  // agrees to Prepare; Set was accepted before, in ballot Last
	Refuse                   // declines: a higher Ballot was promised
	Accept                   // proposes Set
	Accepted                 // agrees to Accept
	Decide                   // Set is decided
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

// A Machine is one rank's part in the agreement. After it has decided it must be kept as
// long as ranks of the group are alive: others may still ask.
type Machine struct {
	self, size int
	gone       Set

	promised uint32 // ballots below this are refused
	last     uint32 // ballot of the accepted set; 0 for none
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

// New returns the machine of a rank that starts to take part. gone are the ranks that
// are known to be gone.
func New(self, size int, gone Set) *Machine {
	m := &Machine{self: self, size: size, gone: gone}
	m.lead()
	return m
}

// Take returns the messages to send, once.
func (m *Machine) Take() []Message {
	out := m.out
	m.out = nil
	return out
}

// Decided returns the set, once there is one.
func (m *Machine) Decided() (Set, bool) { return m.decision, m.decided }

// Hopeless reports whether too many ranks are gone for a decision.
func (m *Machine) Hopeless() bool {
	var left Set
	for r := range m.size {
		if !m.gone.Has(r) {
			left.Add(r)
		}
	}
	return !m.decided && !left.Quorum(m.size)
}

// Waiting lists the ranks that this rank waits for: the leader or, if it leads itself,
// those that have not answered.
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

// Gone records that a rank is gone.
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

// Tick repeats messages that have not been answered: a rank may not have taken part yet
// when they were sent.
func (m *Machine) Tick() {
	m.lead()
	if m.phase != idle && !m.decided {
		m.ask()
	}
}

// leader returns the lowest rank that is not known to be gone.
func (m *Machine) leader() int {
	r := 0
	for r < m.self && m.gone.Has(r) {
		r++
	}
	return r
}

// lead starts a ballot if this rank is the leader and none is under way.
func (m *Machine) lead() {
	if m.decided || m.phase != idle || m.leader() != m.self {
		return
	}
	round := m.promised/uint32(m.size) + 1
	m.phase, m.ballot = preparing, round*uint32(m.size)+uint32(m.self)
	m.answers, m.best, m.value = Set{}, 0, Set{}
	m.ask()
}

// ask sends the request of the current phase to all ranks that have not answered it.
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

// send queues a message; one to this rank itself takes effect at once.
func (m *Machine) send(msg Message) {
	msg.From = m.self
	if msg.To == m.self {
		m.Step(msg)
		return
	}
	m.out = append(m.out, msg)
}

// Step processes a message.
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

// yield promises a ballot and abandons a lower one that this rank leads. The next tick
// starts another if this rank is still the leader.
func (m *Machine) yield(ballot uint32) {
	m.promised = max(m.promised, ballot)
	if m.phase != idle && m.ballot < m.promised {
		m.phase = idle
	}
}

// propose starts the second phase if every rank has answered or is gone, and those that
// answered are a quorum.
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

// decide ends the agreement and sends the decision to the members.
func (m *Machine) decide(s Set) {
	m.decided, m.decision, m.phase = true, s, idle
	for _, r := range s.Ranks() {
		if r != m.self {
			m.out = append(m.out, Message{Kind: Decide, From: m.self, To: r, Set: s})
		}
	}
}
