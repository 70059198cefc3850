package agent

import (
	"context"
	"net"
	"time"

	"thundercollective/launch/wire"
	"thundercollective/rendezvous"
)

// patience is how long the coordinator waits for ranks. Theirs is shorter, and
// counts: a program may take hours until it has need of the others.
const patience = 365 * 24 * time.Hour

// coordinate serves the job's coordinator until the returned function is called.
// It begins anew after every rendezvous, complete or not: a rank may be a script
// that runs one program after the other.
func coordinate(ln *net.TCPListener, s wire.Serve) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer ln.Close()
		for ctx.Err() == nil {
			// Ranks that cannot meet say so themselves, better than we could.
			rendezvous.Serve(ctx, lasting{ln}, rendezvous.ServerConfig{
				Size: s.Size, Token: []byte(s.Token), Generation: s.Generation, Timeout: patience,
			})
			if ln.SetDeadline(time.Time{}) != nil {
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// A lasting listener survives its Close, which only ends the pending Accept.
type lasting struct{ *net.TCPListener }

func (l lasting) Close() error { return l.SetDeadline(time.Unix(1, 0)) }
