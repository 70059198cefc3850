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

// A part is what the ranks put into an operation, or what they get out of it.
type part uint8

const (
	none      part = iota
	one            // Count elements: the vector, or the rank's own block
	all            // the blocks of all ranks
	oneAtRoot      // the root alone: Count elements
	allAtRoot      // the root alone: the blocks of all ranks
	other          // RecvCount elements
)

// whole reports whether the part is the blocks of all ranks.
func (p part) whole() bool { return p == all || p == allAtRoot }

// rootOnly reports whether the root alone has the part.
func (p part) rootOnly() bool { return p == oneAtRoot || p == allAtRoot }

// at reports whether a rank has the part.
func (p part) at(rank, root int) bool { return !p.rootOnly() || rank == root }

// traits is what there is to know about an operation, other than how it is performed.
type traits struct {
	name         string
	gives, gets  part // the contribution, and the result
	reduces      bool // combines elements
	rooted       bool // one rank, the root, plays a special part
	pointToPoint bool // joins two ranks rather than the whole group
	inPlace      bool // the contribution may lie where the result goes
}

// kinds has an entry for every byte, because kinds come from peers, in tags.
var kinds = [256]traits{
	AllReduce:     {name: "allreduce", gives: one, gets: one, reduces: true, inPlace: true},
	ReduceScatter: {name: "reducescatter", gives: all, gets: one, reduces: true, inPlace: true},
	AllGather:     {name: "allgather", gives: one, gets: all, inPlace: true},
	Broadcast:     {name: "broadcast", gives: oneAtRoot, gets: one, rooted: true, inPlace: true},
	Reduce:        {name: "reduce", gives: one, gets: oneAtRoot, reduces: true, rooted: true, inPlace: true},
	Gather:        {name: "gather", gives: one, gets: allAtRoot, rooted: true, inPlace: true},
	Scatter:       {name: "scatter", gives: allAtRoot, gets: one, rooted: true, inPlace: true},
	AllToAll:      {name: "alltoall", gives: all, gets: all},
	Barrier:       {name: "barrier", inPlace: true},
	Send:          {name: "send", gives: one, pointToPoint: true, inPlace: true},
	Recv:          {name: "recv", gets: one, pointToPoint: true, inPlace: true},
	SendRecv:      {name: "sendrecv", gives: one, gets: other, pointToPoint: true},
}

// Valid reports whether k is one of the operations.
func (k Kind) Valid() bool { return k >= AllReduce && k <= SendRecv }

func (k Kind) String() string {
	if !k.Valid() {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kinds[k].name
}

// ParseKind is the inverse of String.
func ParseKind(name string) (Kind, error) {
	for k := AllReduce; k.Valid(); k++ {
		if kinds[k].name == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("unknown collective %q", name)
}

// Reduces reports whether k combines elements, that is, whether the reduction
// operation matters to it.
func (k Kind) Reduces() bool { return kinds[k].reduces }

// Rooted reports whether one rank, the root, plays a special part in k.
func (k Kind) Rooted() bool { return kinds[k].rooted }

// PointToPoint reports whether k joins two ranks rather than the whole group.
func (k Kind) PointToPoint() bool { return kinds[k].pointToPoint }

// Blocks reports whether the vector of k consists of blocks, one for each rank. Then
// Count is the length of a block.
func (k Kind) Blocks() bool { return k.GivesBlocks() || k.GetsBlocks() }

// GivesBlocks reports whether ranks, or the root, contribute a block for each rank.
func (k Kind) GivesBlocks() bool { return kinds[k].gives.whole() }

// GetsBlocks reports whether ranks, or the root, get a block of each rank.
func (k Kind) GetsBlocks() bool { return kinds[k].gets.whole() }

// Gives reports whether a rank contributes elements to k.
func (k Kind) Gives(rank, root int) bool {
	return kinds[k].gives != none && kinds[k].gives.at(rank, root)
}

// Gets reports whether a rank gets elements out of k.
func (k Kind) Gets(rank, root int) bool {
	return kinds[k].gets != none && kinds[k].gets.at(rank, root)
}

// Buffers returns how many elements a rank sends from and receives into, where every
// block, or the vector, has count elements. What is reduced or broadcast as a vector lies
// in the receive buffer.
func (k Kind) Buffers(count, size, rank, root int) (send, recv int) {
	s := Spec{Kind: k, Rank: rank, Size: size, Root: root, Count: count, RecvCount: count}
	s.Separate = k.Blocks() || k.PointToPoint()
	recv, send = s.lengths()
	return send, recv
}
