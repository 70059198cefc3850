package agent

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"thundercollective/internal/launch/wire"
	"thundercollective/internal/rendezvous"
)

// patience is how long the coordinator waits for ranks. The ranks' own time limit is
// shorter and decides: a program may run for hours before it connects to the others.
const patience = 365 * 24 * time.Hour

// A coordinator is where the job's ranks meet, in one generation after the other.
type coordinator struct {
	ln   *net.TCPListener
	what wire.Serve
	// reforming is called once for each rank that asks for a later generation than ranks
	// were started in. It may take long: ranks do not wait for it.
	reforming func(rank int, generation uint32)
	tellers   sync.WaitGroup
	stop      context.CancelFunc
	done      chan struct{}

	mu         sync.Mutex
	generation uint32         // the generation that is served, or about to be
	met        bool           // the ranks have met in this generation
	ever       bool           // the ranks have met in some generation
	asked      map[int]uint32 // the latest generation that each rank asked for
	move       context.CancelCauseFunc
}

// coordinate serves the job's coordinator until it is closed.
func coordinate(ln *net.TCPListener, s wire.Serve, reforming func(rank int, generation uint32)) *coordinator {
	ctx, cancel := context.WithCancel(context.Background())
	c := &coordinator{
		ln: ln, what: s, reforming: reforming, stop: cancel, done: make(chan struct{}),
		generation: s.Generation, asked: map[int]uint32{},
	}
	go c.serve(ctx)
	return c
}

func (c *coordinator) close() {
	c.stop()
	<-c.done
	c.tellers.Wait()
}

// errMoved is sent to ranks that still wait in an older generation.
var errMoved = errors.New("the job has moved on to its next generation")

// serve starts again after every rendezvous, complete or not: a rank may be a script that
// runs one program after the other.
func (c *coordinator) serve(ctx context.Context) {
	defer close(c.done)
	defer c.ln.Close()
	for ctx.Err() == nil {
		round, move := context.WithCancelCause(ctx)
		generation := c.begin(move)
		// Ranks that cannot meet report it themselves.
		rendezvous.Serve(round, lasting{c.ln}, rendezvous.ServerConfig{
			Size: c.what.Size, Token: []byte(c.what.Token), Generation: generation, Timeout: patience,
			OnJoin: c.heard, OnComplete: func() { c.complete(generation) },
		})
		move(nil)
		if c.ln.SetDeadline(time.Time{}) != nil {
			return
		}
	}
}

func (c *coordinator) begin(move context.CancelCauseFunc) uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.move = move
	return c.generation
}

func (c *coordinator) complete(generation uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ever = true
	if generation == c.generation {
		c.met = true
	}
}

// heard moves on to the generation that a rank asks for. The rank has the token, so it
// belongs to the job, and it would not ask if the current generation were not over.
func (c *coordinator) heard(rank int, generation uint32) {
	c.mu.Lock()
	if generation > c.generation {
		c.generation, c.met = generation, false
		c.move(errMoved)
	}
	fresh := generation > max(c.asked[rank], c.what.Generation)
	if fresh {
		c.asked[rank] = generation
	}
	c.mu.Unlock()
	if fresh {
		c.tellers.Go(func() { c.reforming(rank, generation) })
	}
}

// next returns the generation in which a rank that is restarted alone meets the others.
func (c *coordinator) next() wire.Next {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := wire.Next{Generation: c.generation, Met: c.ever}
	if c.met {
		n.Generation++
	}
	return n
}

// A lasting listener survives its Close, which only ends the pending Accept.
type lasting struct{ *net.TCPListener }

func (l lasting) Close() error { return l.SetDeadline(time.Unix(1, 0)) }
