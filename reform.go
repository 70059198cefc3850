package thunder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"thundercollective/internal/rendezvous"
	"thundercollective/internal/rendezvous/handshake"
	"thundercollective/internal/session"
)

// reformEvery is how often a rank tries again to meet ranks that are not yet in the
// next generation.
const reformEvery = 100 * time.Millisecond

// Reform begins the next generation of the job: it closes c, which has to be the Comm
// of Init, meets the other ranks again in the way Init did, and returns the group of
// all ranks. Survivors call it after a failure; a rank that died is started again,
// with THUNDER_GENERATION one higher, and calls Init. It takes as many ranks as
// before; to go on with fewer, use Shrink.
//
// Ranks and messages of an older generation are refused, so nothing of what was under
// way can reach the new group. A rank that finds the others further ahead follows
// them.
//
// The ranks have to be able to meet without the dead one: at a coordinator that
// somebody else serves, or rank 0, alive or started again; or at their addresses.
// thunder launch --restarts serves one, and starts ranks that died again when it sees
// that the others re-form; when they do not, all of them.
func (c *Comm) Reform(ctx context.Context) (*Comm, error) {
	j := c.job
	if c.group.ID() != session.WorldID || j.again == nil {
		return nil, errors.New("thunder: only the Comm of Init can be re-formed")
	}
	c.group.FailAll(&AbortError{Rank: j.rank, Reason: "it re-forms the job"})
	if err := c.Close(); err != nil {
		j.log.Warn("closing the old generation", "err", err)
	}
	return j.again(ctx, j.generation+1)
}

// enterNext is what Init does, for a later generation.
func enterNext(ctx context.Context, o Options, cfg rendezvous.Config, generation uint32) (*Comm, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.StartTimeout, &session.StartError{After: cfg.StartTimeout})
	defer cancel()
	for {
		cfg.Generation = generation
		c, err := enter(ctx, o, cfg)
		rejected, ok := errors.AsType[*handshake.RejectedError](err)
		if err == nil || !ok || rejected.Code != handshake.WrongGeneration {
			return c, asSettingsError(err)
		}
		if cfg.Way() == rendezvous.Coordinated {
			generation++ // a coordinator turns away only those that are behind
		}
		select {
		case <-time.After(reformEvery):
		case <-ctx.Done():
			return nil, fmt.Errorf("thunder: %w: %w", context.Cause(ctx), err)
		}
	}
}
