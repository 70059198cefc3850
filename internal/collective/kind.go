package collective

import "fmt"

// A Kind is a collective operation. The numbers travel in message tags, so they
// never change their meaning.
type Kind uint8

// The operations. See Spec for what each does with its buffers.
const (
	AllReduce Kind = 1 + iota
	ReduceScatter
	AllGather
	Broadcast
	Reduce
	Gather
	Scatter
	AllToAll
	Barrier
	Send
	Recv
	SendRecv
)

var kindNames = [...]string{
	AllReduce:     "allreduce",
	ReduceScatter: "reducescatter",
	AllGather:     "allgather",
	Broadcast:     "broadcast",
	Reduce:        "reduce",
	Gather:        "gather",
	Scatter:       "scatter",
	AllToAll:      "alltoall",
	Barrier:       "barrier",
	Send:          "send",
	Recv:          "recv",
	SendRecv:      "sendrecv",
}

// Valid reports whether k is one of the operations.
func (k Kind) Valid() bool { return k >= AllReduce && k <= SendRecv }

func (k Kind) String() string {
	if !k.Valid() {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// ParseKind is the inverse of String.
func ParseKind(name string) (Kind, error) {
	for k := AllReduce; k.Valid(); k++ {
		if kindNames[k] == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("unknown collective %q", name)
}

// Reduces reports whether k combines elements, that is, whether the reduction
// operation matters to it.
func (k Kind) Reduces() bool {
	return k == AllReduce || k == ReduceScatter || k == Reduce
}

// Rooted reports whether one rank, the root, plays a special part in k.
func (k Kind) Rooted() bool {
	return k == Broadcast || k == Reduce || k == Gather || k == Scatter
}

// PointToPoint reports whether k joins two ranks rather than the whole group.
func (k Kind) PointToPoint() bool { return k == Send || k == Recv || k == SendRecv }
