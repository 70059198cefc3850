package bench

import (
	"fmt"
	"slices"
	"strings"

	thunder "thundercollective"
)

// A Mode is what a benchmark does. Its text is the name that users write.
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

// Modes lists the modes in the order of the manual.
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
	return "", fmt.Errorf("unknown mode %q; want one of %s", s, join(Modes()))
}

func join[T ~string](list []T) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = string(v)
	}
	return strings.Join(names, " ")
}

// About describes one iteration of the mode.
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
		return "each rank sends to the next rank and receives from the previous one"
	case Barrier:
		return "all ranks wait for each other"
	case Matrix:
		return "round-trip time and bandwidth of every ordered pair of ranks, and of each rail"
	default:
		return ""
	}
}

// kind returns the collective that the mode measures, or 0 for modes that consist of single
// messages.
func (m Mode) kind() thunder.Kind {
	k, err := thunder.ParseKind(string(m))
	if err != nil || k.PointToPoint() {
		return 0
	}
	return k
}

// Algos lists the algorithms available for the mode, without Auto.
func (m Mode) Algos() []thunder.Algo {
	if k := m.kind(); k != 0 {
		return thunder.Algos(k)
	}
	return nil
}

// Reduces reports whether the mode applies a reduction.
func (m Mode) Reduces() bool { return m.kind().Reduces() }

// Rooted reports whether the mode has a root rank.
func (m Mode) Rooted() bool { return m.kind().Rooted() }

// blocks reports whether the size of the mode includes a block for each rank.
func (m Mode) blocks() bool { return m.kind().Blocks() }

// sameResult reports whether all ranks have the same result.
func (m Mode) sameResult() bool {
	return m == AllReduce || m == AllGather || m == Broadcast
}

// busFactor returns the factor from the algorithm's bandwidth (bytes over time as the
// caller sees them) to what the links carry, by the formulas of nccl-tests. The product can
// be compared with the speed of the hardware for any number of ranks.
func (m Mode) busFactor(ranks int) float64 {
	n := float64(ranks)
	switch {
	case m == AllReduce:
		return 2 * (n - 1) / n
	case m.blocks():
		return (n - 1) / n
	default:
		return 1
	}
}
