package collective

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// DefaultWindow is the Spec.Window that stands for zero.
const DefaultWindow = 1 << 18

// defaultElemSize is the Spec.ElemSize that stands for zero.
const defaultElemSize = 8

// A Spec describes the part of one rank in one collective. All lengths are in
// elements.
//
// The ranks of a group must agree on Kind, Algo, Size, Root, Count, Counts,
// Cables, Hosts, ElemSize, Window and Segment, with the exceptions below. Rank and
// Separate are local.
//
// What Count means, and which part of the buffers is used:
//
//	AllReduce      Count: the vector. Main: contribution, then result.
//	Reduce         Count: the vector. Main: contribution everywhere, result at
//	               the root, unchanged elsewhere.
//	ReduceScatter  Count: one block, or Counts[i]: block i. Input: all blocks;
//	               Main: the own block. Not Separate: Main holds all blocks, the
//	               own one is the result in its place, the others end undefined.
//	AllGather      Count: one block, or Counts[i]. Input: the own block; Main:
//	               all blocks. Not Separate: the own block lies in its place.
//	Broadcast      Count: the vector. Main: at the root the source, elsewhere
//	               the result. Input counts only at the root.
//	Gather         Count: one block, or Counts[i]. Main: all blocks at the root.
//	               Contribution: Input; not Separate, the own place in Main at
//	               the root, the start of Main elsewhere.
//	Scatter        Count: one block, or Counts[i]. Input: all blocks, only at the
//	               root; Main: the own block. Not Separate, Main holds all blocks
//	               at the root and stays as it is.
//	AllToAll       Count: a block for each pair; or Counts[i] to and
//	               RecvCounts[i] from rank i, known to this rank alone. Input:
//	               outgoing blocks, Main: incoming ones. Always Separate.
//	Barrier        nothing.
//	Send           Count elements to rank Root from Input, or Main if not Separate.
//	Recv           Count elements from rank Root into Main.
//	SendRecv       Count elements of Input to rank Root, RecvCount elements from
//	               rank From into Main. Always Separate. Both with itself: a copy.
//
// Blocks lie one behind the other in rank order. In the v-forms of Gather and
// Scatter a rank other than the root needs to know only its own entry of Counts,
// but Counts must be there. Input and Main must not overlap.
type Spec struct {
	Kind Kind
	Algo Algo
	Rank int
	Size int

	Root int // the root; the peer of Send and Recv; the receiver for SendRecv
	From int // the sender for SendRecv

	Count      int
	RecvCount  int   // SendRecv only
	Counts     []int // v-forms: one entry per rank, nil otherwise
	RecvCounts []int // AllToAll only, together with Counts

	// Separate says that the contribution lies in Input rather than in Main.
	Separate bool

	// Cables says how the ranks are joined; nil if all are joined equally.
	Cables *Cables

	// Hosts says which ranks share a host; nil if that is not known.
	Hosts *Hosts

	// Crowded says that all ranks are on one host, whose processors they outnumber.
	Crowded bool

	// Fixed says that the caller has asked for Algo: its messages are sent even where
	// the ranks share memory. See Path.
	Fixed bool

	// ElemSize is the length of an element in bytes, for algorithms that choose among
	// others by the length of a part; zero stands for 8. NewPlan fills it in.
	ElemSize int

	// Window bounds the scratch of algorithms that stage data, in elements;
	// zero stands for DefaultWindow. Scratch exceeds it only where it is too
	// small for one element per stage.
	Window int

	// Segment is the length of the segments in which the messages of a plan travel, in
	// elements; zero stands for 256 KiB. Build ignores it, except for a ring of two ranks: see Segmented.
	Segment int
}

// Resolve returns s with Auto replaced by the choice for elements of elemSize
// bytes. It is the same on all ranks that agree on s.
func (s Spec) Resolve(elemSize int) Spec { return s.ResolveWith(elemSize, Choose) }

// ResolveWith is Resolve with a choice other than Choose, such as Model.Choose.
func (s Spec) ResolveWith(elemSize int, choose func(k Kind, size, bytes int) Algo) Spec {
	if s.Algo != Auto {
		return s
	}
	if s.Counts != nil && s.Kind.Rooted() {
		s.Algo = Direct
		return s
	}
	count := s.Count
	if s.Counts != nil && !s.countsDiffer() && s.Size > 0 {
		count = (sum(s.Counts) + s.Size - 1) / s.Size
	}
	if elemSize > 0 && count > math.MaxInt/elemSize {
		count = math.MaxInt / elemSize
	}
	if s.Cables != nil {
		choose = s.Cables.choose(choose)
	}
	s.Algo = choose(s.Kind, s.Size, count*elemSize)
	return s
}

func (s *Spec) validate() error {
	if !s.Kind.Valid() {
		return fmt.Errorf("there is no collective %v", s.Kind)
	}
	if s.Size < 1 {
		return fmt.Errorf("%v: group of %d ranks", s.Kind, s.Size)
	}
	if s.Rank < 0 || s.Rank >= s.Size {
		return fmt.Errorf("%v: rank %d is outside a group of %d", s.Kind, s.Rank, s.Size)
	}
	if s.Segment < 0 {
		return fmt.Errorf("%v: negative segment %d", s.Kind, s.Segment)
	}
	if s.Window < 0 {
		return fmt.Errorf("%v: negative window %d", s.Kind, s.Window)
	}
	if err := s.validateAlgo(); err != nil {
		return err
	}
	if err := s.Cables.validate(s.Size); err != nil {
		return fmt.Errorf("%v: %w", s.Kind, err)
	}
	if err := s.Hosts.validate(s.Size); err != nil {
		return fmt.Errorf("%v: %w", s.Kind, err)
	}
	if err := s.validatePeers(); err != nil {
		return fmt.Errorf("%v: %w", s.Kind, err)
	}
	if err := s.validateCounts(); err != nil {
		return fmt.Errorf("%v: %w", s.Kind, err)
	}
	if !s.Separate && !kinds[s.Kind].inPlace {
		return fmt.Errorf("%v: needs an input apart from the result", s.Kind)
	}
	return nil
}

func (s *Spec) validateAlgo() error {
	switch {
	case s.Algo == Auto:
		return fmt.Errorf("%v: algorithm auto has to be resolved first", s.Kind)
	case !slices.Contains(Algos(s.Kind), s.Algo):
		return fmt.Errorf("%v: there is no algorithm %v, only %v", s.Kind, s.Algo, Algos(s.Kind))
	case s.Counts != nil && s.Algo != Direct && s.Kind.Rooted():
		return fmt.Errorf("%v: algorithm %v needs blocks of one size, use %v", s.Kind, s.Algo, Direct)
	}
	return nil
}

func (s *Spec) validatePeers() error {
	if s.Kind.Rooted() || s.Kind.PointToPoint() {
		if s.Root < 0 || s.Root >= s.Size {
			return fmt.Errorf("rank %d is outside a group of %d", s.Root, s.Size)
		}
	}
	switch s.Kind {
	case Send, Recv:
		if s.Root == s.Rank {
			return errors.New("the peer is this rank itself")
		}
	case SendRecv:
		if s.From < 0 || s.From >= s.Size {
			return fmt.Errorf("rank %d is outside a group of %d", s.From, s.Size)
		}
		if (s.Root == s.Rank) != (s.From == s.Rank) {
			return errors.New("a rank can exchange with itself only both ways")
		}
		if s.Root == s.Rank && s.Count != s.RecvCount {
			return fmt.Errorf("sends %d elements to itself and receives %d", s.Count, s.RecvCount)
		}
	}
	return nil
}

func (s *Spec) validateCounts() error {
	if s.Count < 0 || s.RecvCount < 0 {
		return errors.New("negative count")
	}
	if s.Count > math.MaxInt/s.Size {
		return fmt.Errorf("%d blocks of %d elements are too many", s.Size, s.Count)
	}
	if s.Counts == nil && s.RecvCounts == nil {
		return nil
	}
	switch {
	case !s.Kind.Blocks():
		return errors.New("has no form with a count for each rank")
	case !s.countsDiffer():
		if s.RecvCounts != nil {
			return errors.New("has no receive counts")
		}
		return checkCounts(s.Counts, s.Size)
	}
	if err := checkCounts(s.Counts, s.Size); err != nil {
		return err
	}
	if err := checkCounts(s.RecvCounts, s.Size); err != nil {
		return err
	}
	if s.Counts[s.Rank] != s.RecvCounts[s.Rank] {
		return fmt.Errorf("sends %d elements to itself and receives %d", s.Counts[s.Rank], s.RecvCounts[s.Rank])
	}
	return nil
}

// countsDiffer reports whether every rank has counts of its own, of what it sends and of
// what it receives.
func (s *Spec) countsDiffer() bool { return s.Kind.GivesBlocks() && s.Kind.GetsBlocks() }

func checkCounts(counts []int, size int) error {
	if len(counts) != size {
		return fmt.Errorf("%d counts for %d ranks", len(counts), size)
	}
	total := 0
	for i, c := range counts {
		if c < 0 {
			return fmt.Errorf("negative count for rank %d", i)
		}
		if c > math.MaxInt-total {
			return errors.New("the counts add up to too much")
		}
		total += c
	}
	return nil
}

func sum(counts []int) int {
	total := 0
	for _, c := range counts {
		total += c
	}
	return total
}

// lengths returns the least lengths of Main and Input.
func (s *Spec) lengths() (main, input int) {
	t := &kinds[s.Kind]
	if t.gets.at(s.Rank, s.Root) {
		main = s.elements(t.gets, s.RecvCounts)
	}
	if t.gives.at(s.Rank, s.Root) {
		input = s.elements(t.gives, nil)
	}
	if !s.Separate {
		return max(main, input), 0
	}
	return main, input
}

// elements returns the length of a part of this rank. counts replaces Spec.Counts unless
// it is nil.
func (s *Spec) elements(p part, counts []int) int {
	if counts == nil {
		counts = s.Counts
	}
	switch {
	case p == none:
		return 0
	case p == other:
		return s.RecvCount
	case p.whole() && counts != nil:
		return sum(counts)
	case p.whole():
		return s.Count * s.Size
	case counts != nil:
		return counts[s.Rank]
	}
	return s.Count
}
