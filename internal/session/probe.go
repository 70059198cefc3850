package session

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"thundercollective/internal/liveness"
)

// What a machine says when a connection to a silent rank's port is tried. The
// system accepts it also while the process is stopped; that is what tells a stopped
// process from a machine that cannot be reached.
const (
	probeAccepts = "its machine answers, so the process is stopped or hangs"
	probeRefuses = "its machine answers but nothing listens there any more, so the process is gone"
	probeNothing = "its machine does not answer, so it is down or the cable is cut"
)

// probe tries to reach the machine of a silent rank, and notes what that says.
func (a *alive) probe(rank int) {
	if rank >= len(a.session.cfg.Addrs) || len(a.session.cfg.Addrs[rank]) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(a.session.ctx, a.cfg.Timeout/5)
	defer cancel()
	answer := reach(ctx, a.session.cfg.Addrs[rank])
	a.with(func(m *liveness.Monitor, _ time.Duration) { m.Answered(rank, answer) })
}

// reach tries all addresses at once; the best news counts.
func reach(ctx context.Context, addrs []string) string {
	var wg sync.WaitGroup
	var d net.Dialer
	errs := make([]error, len(addrs))
	for i, addr := range addrs {
		wg.Go(func() {
			c, err := d.DialContext(ctx, "tcp", addr)
			if err == nil {
				c.Close()
			}
			errs[i] = err
		})
	}
	wg.Wait()
	answer := probeNothing
	for _, err := range errs {
		switch {
		case err == nil:
			return probeAccepts
		case errors.Is(err, syscall.ECONNREFUSED):
			answer = probeRefuses
		}
	}
	return answer
}
