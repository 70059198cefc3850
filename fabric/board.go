package fabric

import "context"

// A Board is where ranks that share memory show each other short messages: each is
// written once, for all of them to read.
//
// It is used in rounds, which all ranks go through alike: in a round a rank may Show
// one message and Look at those of others, and it ends it with Next. Only one
// goroutine may use it at a time. Errors are final, and those of a Link.
type Board interface {
	// Room is the longest message in bytes, the same at all ranks.
	Room() int
	// Free says whether Show will not have to wait, which it has to only for ranks that
	// are many rounds behind.
	Free() bool
	// Show shows b to all ranks. b may be reused when it returns.
	Show(ctx context.Context, tag *Tag, b []byte) error
	// Swap is Show in a round in which all ranks show as much, and all look at all the
	// others; only then may it be used, and by all. The own message cannot be looked at.
	Swap(ctx context.Context, tag *Tag, b []byte) error
	// Look waits for what a rank shows in this round, which must carry tag and be
	// exactly n bytes long. Ranks count by their place in the list of the board; the
	// own message may be looked at, too. What is returned is valid until Next, and
	// must not be written.
	Look(ctx context.Context, rank int, tag *Tag, n int) ([]byte, error)
	// Next ends the round.
	Next()
	// Close gives up the memory. It comes before that of the Fabric.
	Close() error
}

// A Boarder is a Fabric with boards.
type Boarder interface {
	// Board makes a board of ranks that are joined on channel ch; nil if they cannot
	// all share one. All of them have to call it alike, when nothing else is under
	// way on the channel. The board lives as long as the links do.
	Board(ctx context.Context, ch Channel, ranks []int) (Board, error)
}
