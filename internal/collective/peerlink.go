package collective

import (
	"context"
	"slices"
	"sync"

	"thundercollective/fabric"
)

// A peerLink is the link to one peer, and what the run under way has posted on it. One
// lane of a run sends on a link; only it uses the link's sending side.
type peerLink struct {
	link fabric.Link // nil until it is open

	lane   int  // that sends
	posted int  // messages
	owed   bool // the link has not given back all their buffers
}

// begin prepares for a run.
func (l *peerLink) begin() { l.posted, l.owed = 0, false }

// post sends the next message.
func (l *peerLink) post(lane int, tag *fabric.Tag, buf []byte) error {
	l.lane = lane
	done, err := l.link.Post(tag, buf)
	l.owed = l.owed || !done
	l.posted++
	return err
}

// wait waits until the buffers of the first n messages of the run are free again.
func (l *peerLink) wait(ctx context.Context, n int) error {
	if !l.owed {
		return nil
	}
	return l.link.Await(ctx, l.posted-n)
}

// end waits until all buffers of the run are free again.
func (r *runner) end(peer int) {
	l := &r.peers[peer]
	if !l.owed {
		return
	}
	if err := l.link.Await(r.ctx, 0); err != nil && !r.failed.Load() {
		r.fail(r.stepError(l.lane, r.find(l.lane, peer, l.posted-1), err))
	}
}

// find returns the action of a lane that sends message n to a peer.
func (r *runner) find(lane, peer, n int) int {
	return slices.IndexFunc(r.plan.lanes[lane].actions, func(a planAction) bool {
		return a.Step == SendStep && a.Peer == peer && a.number == n
	})
}

// openAll opens the links of the plan that are not open yet, all at once: a link opens
// only when both ends ask for it, so ranks that opened one after the other could wait for
// each other in a ring.
func (r *runner) openAll() {
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, p := range r.plan.links {
		if r.peers[p].link != nil {
			continue
		}
		wg.Go(func() {
			link, err := r.links.Link(ctx, p)
			if err != nil {
				cancel(err) // the others are not needed any more
				r.fail(r.openError(p, err))
				return
			}
			r.failMu.Lock()
			defer r.failMu.Unlock()
			r.peers[p].link = link
		})
	}
	wg.Wait()
	if r.failed.Load() && r.onFailure == nil {
		r.closeLinks() // those that were opened after the failure
	}
}

// openError returns the error of the first action that needs the link to a peer.
func (r *runner) openError(peer int, err error) *StepError {
	for lane := range r.plan.lanes {
		i := slices.IndexFunc(r.plan.lanes[lane].actions, func(a planAction) bool {
			return a.Peer == peer && (a.Step == SendStep || a.Receives())
		})
		if i >= 0 {
			return r.stepError(lane, i, err)
		}
	}
	return r.peerError(RecvStep, peer, err)
}

// closeLinks closes the links that are open.
func (r *runner) closeLinks() {
	r.failMu.Lock()
	defer r.failMu.Unlock()
	for i := range r.peers {
		if l := r.peers[i].link; l != nil {
			l.Close()
		}
	}
}

// opened returns the link to a peer, nil if it is not open.
func (r *runner) opened(peer int) fabric.Link { return r.peers[peer].link }
