package fabric

import "context"

// A Swapper is a Backlog with a quick way to receive what is short: the message stays
// where the link has read it to.
type Swapper interface {
	Backlog
	// Short is the length in bytes of the longest message that Take takes; -1 if there
	// is none.
	Short() int
	// Take receives the next message, which must carry tag and be exactly n bytes long,
	// no more than Short. What it returns starts at a multiple of PieceAlign, must not
	// be written, and is valid until the next call that receives on the link. A message
	// that is there already may be taken though ctx has ended.
	Take(ctx context.Context, tag *Tag, n int) ([]byte, error)
}
