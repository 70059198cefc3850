package bench

import (
	"fmt"
	"slices"
	"strings"

	thunder "thundercollective"
)

// A Mode is what a benchmark does, by the name users write.
type Mode string

// The modes.
const (
	PingPong      Mode = "ping-pong"
	AllReduce     Mode = "allreduce"
	ReduceScatter Mode = "reducescatter"
	AllGather     Mode = "allgather"
	Broadcast     Mode = "broadcast"
	Reduce        Mode = "reduce"
	Gather        Mode = "gather"
	Scatter       Mode = "scatter"
	AllToAll      Mode = "alltoall"
	SendRecv      Mode = "sendrecv"
	Barrier       Mode = "barrier"
	Matrix        Mode = "matrix"
)

// Modes lists the modes in the order the manual does.
func Modes() []Mode {
	return []Mode{
		PingPong, AllReduce, ReduceScatter, AllGather, Broadcast, Reduce,
		Gather, Scatter, AllToAll, SendRecv, Barrier, Matrix,
	}
}

// Collectives lists the modes in which all ranks work together.
func Collectives() []Mode {
	return slices.DeleteFunc(Modes(), func(m Mode) bool { return m == PingPong || m == Matrix })
}

// ParseMode returns the mode called s.
func ParseMode(s string) (Mode, error) {
	if m := Mode(s); slices.Contains(Modes(), m) {
		return m, nil
	}
	return "", fmt.Errorf("unknown mode %q, want one of %s", s, join(Modes()))
}

func join[T ~string](list []T) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = string(v)
	}
	return strings.Join(names, " ")
}

// About says in a few words what one iteration of the mode does.
func (m Mode) About() string {
	switch m {
	case PingPong:
		return "each pair of ranks (0-1, 2-3, ...) sends a message there and back"
	case AllReduce:
		return "every rank gets the reduction of all ranks' buffers"
	case ReduceScatter:
		return "the reduction of all ranks' buffers, one block to each rank"
	case AllGather:
		return "every rank gets the blocks of all ranks"
	case Broadcast:
		return "every rank gets the root's buffer"
	case Reduce:
		return "the root gets the reduction of all ranks' buffers"
	case Gather:
		return "the root gets the blocks of all ranks"
	case Scatter:
		return "each rank gets its block of the root's buffer"
	case AllToAll:
		return "each rank sends one block to every rank"
	case SendRecv:
		return "each rank sends to the next one and receives from the one before"
	case Barrier:
		return "all ranks wait for each other"
	case Matrix:
		return "round-trip time and bandwidth of every ordered pair of ranks, and of each rail"
	default:
		return ""
	}
}

// kind is the collective the mode is made of; 0 for those made of single messages.
func (m Mode) kind() thunder.Kind {
	k, err := thunder.ParseKind(string(m))
	if err != nil || k.PointToPoint() {
		return 0
	}
	return k
}

// Algos lists the algorithms that the mode can be run with, besides Auto.
func (m Mode) Algos() []thunder.Algo {
	if k := m.kind(); k != 0 {
		return thunder.Algos(k)
	}
	return nil
}

// Reduces reports whether the mode combines elements by an operation.
func (m Mode) Reduces() bool { return m.kind().Reduces() }

// Rooted reports whether one rank of the mode is the root.
func (m Mode) Rooted() bool { return m.kind().Rooted() }

// blocks reports whether the size of the mode counts a block for each rank.
func (m Mode) blocks() bool {
	return m == ReduceScatter || m == AllGather || m == Gather || m == Scatter || m == AllToAll
}

// sameResult reports whether all ranks end up with the same bytes.
func (m Mode) sameResult() bool {
	return m == AllReduce || m == AllGather || m == Broadcast
}

// busFactor turns the algorithm's bandwidth, bytes over time as the caller sees
// them, into what the links carry, by the formulas of nccl-tests: what is left
// can be compared with the speed of the hardware whatever the number of ranks.
func (m Mode) busFactor(ranks int) float64 {
	n := float64(ranks)
	switch m {
	case AllReduce:
		return 2 * (n - 1) / n
	case ReduceScatter, AllGather, Gather, Scatter, AllToAll:
		return (n - 1) / n
	default:
		return 1
	}
}
