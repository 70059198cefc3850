package shm

// neighbours is which ranks of a board run on the same core as this one. Where ranks
// outnumber cores, one that waits for a neighbour has to let it run, and better at once.
// But if all it needs is on its way from other cores, to let a neighbour run that waits
// for the same costs two changes of tasks, and gains nothing.
//
// Who leaves a barrier, and has to wait for another rank next, lets its neighbours leave
// before it goes on: it would have to let them run anyway, but one change of tasks later.
//
// Ranks say on their pages where they run. They seldom move, so they look only now and
// then; what is out of date costs time, no more.
type neighbours struct {
	near  []bool // by rank
	waits uint   // so far

	offered bool   // this rank let its neighbours run in this round
	parted  uint64 // the round that follows the last barrier
	follows bool   // in such a round, this rank last did nothing but look at others
}

// coreLooks is how often, in waits, a rank looks where it and others run.
const coreLooks = 64

// look is called before a wait.
func (s *neighbours) look(b *board) {
	if s.waits++; s.waits%coreLooks != 1 {
		return
	}
	if s.near == nil {
		s.near = make([]bool, len(b.places))
	}
	here := uint64(core() + 1) // 0 is for those who have not said
	b.places[b.rank].core.Store(here)
	for i := range b.places {
		s.near[i] = b.places[i].core.Load() == here
	}
}

// elsewhere implements distant: no neighbour has to run before c can be met.
func (c *boardCondition) elsewhere() bool {
	b := c.board
	away := !b.cores.near[c.rank]
	for i := range b.places {
		if b.mutual && b.cores.near[i] && i != b.rank && b.places[i].entries[b.round%boardDepth].round.Load() < b.round {
			away = false
		}
	}
	b.cores.offered = b.cores.offered || !away
	return away
}

// leave is called at the end of a barrier, round being the next. Programs repeat
// themselves: what this rank did after the last barrier it does again.
func (s *neighbours) leave(round uint64) {
	if s.follows && !s.offered {
		yield()
	}
	s.parted = round
}
