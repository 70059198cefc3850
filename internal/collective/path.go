package collective

import "fmt"

// A Path is how the ranks of a group carry out one operation.
type Path uint8

// The paths. Begin and Decide choose among them.
const (
	// PathMessages: ranks send each other the messages of the plan.
	PathMessages Path = iota
	// PathBoard: every rank posts its part on the board, and reads those of the others.
	PathBoard
	// PathExchange: two ranks exchange one short message each way.
	PathExchange
	// PathShared: every rank reads what it needs from the memory of the others.
	PathShared
	// PathRoundTrip: two ranks at a time lend each other half of their vectors, add to
	// what they are lent, and take their own half back.
	PathRoundTrip
)

var pathNames = [...]string{
	PathMessages:  "messages",
	PathBoard:     "board",
	PathExchange:  "exchange",
	PathShared:    "shared",
	PathRoundTrip: "round trip",
}

func (p Path) String() string {
	if int(p) >= len(pathNames) {
		return fmt.Sprintf("path(%d)", uint8(p))
	}
	return pathNames[p]
}

// facts is what the path of an operation depends on, apart from its plan. All ranks of
// a group know the same facts, except for short: the messages of an exchange are those
// of the plan, so the peer cannot tell the two paths apart.
type facts struct {
	room   int  // the longest message of the board in bytes; -1 without a board
	short  int  // the longest message of an exchange in bytes; -1 if the link allows none
	shares bool // the ranks share memory, and have a board
	reads  bool // they can also read all other memory of each other
}

// decide returns the path of a plan. PathShared is provisional: it means that the ranks
// tell each other where their buffers lie, after which settle decides.
func (f *facts) decide(p *Plan) Path {
	switch {
	case p.posted >= 0 && p.posted <= f.room && (p.spec.Kind != Broadcast || !f.certain(p)):
		return PathBoard
	case p.exchange != nil && p.exchange.longest <= f.short && f.room < 0:
		return PathExchange
	case f.shares && p.mayShare && f.worthAsking(p):
		return PathShared
	}
	return PathMessages
}

// settle returns the path of a plan for which decide has returned PathShared. mapped
// says that all ranks have mapped all buffers concerned, accessible that all ranks can
// at least read them.
func (f *facts) settle(p *Plan, mapped, accessible bool) Path {
	s := &p.spec
	_, read := gains(s.Kind, s.Size, p.block)
	switch {
	case !mapped && roundTripGains(s.Kind, s.Size, p.block):
		return PathRoundTrip
	case accessible && (mapped || read):
		return PathShared
	}
	return PathMessages
}

// worthAsking reports whether ranks that share memory should find out whether their
// buffers allow the shared path. Where they cannot read each other's memory, the buffers
// rarely do, so only a long operation justifies the extra round of messages, or an
// AllReduce, which has round trips to gain.
func (f *facts) worthAsking(p *Plan) bool {
	const least = 1 << 20
	k := p.spec.Kind
	mapped, read := gains(k, p.spec.Size, p.block)
	return f.reads && read || mapped && (f.reads || k == AllReduce || p.block >= least)
}

// certain reports whether ranks take the shared path whatever memory the buffers lie in.
func (f *facts) certain(p *Plan) bool {
	_, read := gains(p.spec.Kind, p.spec.Size, p.block)
	return f.reads && read
}

// gains reports whether the shared path is quicker than messages for an operation on so
// many bytes of the vector, or of a block: with buffers that all ranks have mapped, and
// with buffers that have to be read through the kernel. The numbers are measured. The
// reasons behind them:
//
// The shared path adds two rounds of messages, or of the board, which also keep a rank
// that would only send from running ahead. Reading a page through the kernel costs about
// as much as two copies, into the memory of a link and out of it, made by two processors
// at the same time. So reading pays where every rank both sends and receives all the
// time; in Scatter, where the root would copy for all ranks; and in Broadcast, if there
// are several receivers, or if everything stays in the cache of the only one. In Gather
// and Reduce the root would do all the work. Messages that are reduced are read in place,
// not copied, so ReduceScatter gains little, and nothing with many ranks. AllReduce has
// round trips, which are quicker at every length.
func gains(k Kind, size, bytes int) (mapped, read bool) {
	const KiB, MiB = 1 << 10, 1 << 20
	pair := size == 2
	switch k {
	case AllReduce:
		return bytes >= 16*KiB, false
	case Broadcast:
		least := 32 * KiB
		if pair {
			least = 16 * KiB
		}
		return bytes >= least, bytes >= least && (bytes < 1*MiB || !pair)
	case Scatter:
		if pair {
			return bytes >= 64*KiB, bytes >= 64*KiB
		}
		return bytes >= 256*KiB, bytes >= 256*KiB
	case AllGather, AllToAll, ReduceScatter:
		switch {
		case pair:
			return bytes >= 32*KiB, bytes >= 32*KiB
		case k == ReduceScatter:
			return bytes >= 1*MiB, false
		}
		return bytes >= 64*KiB, bytes >= 64*KiB
	}
	return false, false
}

// roundTripGains reports whether round trips are quicker than messages. The numbers are
// measured. Two ranks always gain: a round trip moves the data once each way, which is
// the least possible. More ranks repeat it for the whole vector, which pays as soon as
// the vectors no longer fit the processors' own caches.
func roundTripGains(k Kind, size, bytes int) bool {
	const KiB, MiB = 1 << 10, 1 << 20
	if k != AllReduce {
		return false
	}
	switch size {
	case 2:
		return bytes >= 16*KiB
	case 4:
		return bytes >= 1*MiB
	case 8:
		return bytes >= 4*MiB
	}
	return false
}
