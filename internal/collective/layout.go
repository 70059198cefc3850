package collective

// A layout is where the data of one operation lies in the buffers of a rank, in bytes.
// Where blocks differ in length, only main, input and scratch mean anything.
type layout struct {
	main, input, scratch int // the least lengths of the buffers

	block int // the vector, or a block
	given int // what a rank contributes, if it does: the vector, a block, or a block for each rank

	gives, gets bool // this rank contributes, or gets a result
	mine        int  // where its contribution begins: in Input if that is separate, else in Main
	part        int  // where its part begins in the contribution of every rank that gives
	into        int  // where the result of a reduction begins in Main
	rootGives   bool // the root alone contributes
}

// lay returns the layout of a schedule for elements of so many bytes.
func (s *Spec) lay(schedule *Schedule, elem int) layout {
	t := &kinds[s.Kind]
	l := layout{main: schedule.Main * elem, input: schedule.Input * elem, scratch: schedule.Scratch * elem}
	l.gives, l.gets, l.rootGives = t.gives.at(s.Rank, s.Root), t.gets.at(s.Rank, s.Root), t.gives.rootOnly()
	if t.gives != none || t.gets != none {
		l.block = s.Count * elem
	}
	l.given = l.block
	own := s.Rank * l.block
	if t.gives.whole() {
		l.given *= s.Size
		l.part = own
		if t.reduces && !s.Separate {
			l.into = own
		}
	} else if t.gets.whole() && l.gets && !s.Separate {
		l.mine = own
	}
	return l
}
