package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/failure"
	"thundercollective/internal/rendezvous"
	"thundercollective/internal/rendezvous/handshake"
)

// A Joining is the time in which this rank and the others connect. A rank that knows
// the token but runs with incompatible settings is refused and ends, so there is no
// point in waiting for it. Once a rank is connected, anybody else who claims to be it
// is refused, without consequences for the job.
type Joining struct {
	mu     sync.Mutex
	cancel context.CancelCauseFunc // nil until begin
	here   map[int]bool            // ranks that have been met
	over   bool
	why    *differsError // the rank that differs, if one does
}

// A differsError ends the wait for a rank that runs with incompatible settings.
type differsError struct{ error }

func (e *differsError) Unwrap() error { return e.error }

// vague reports whether the reason does not say in what the ranks differ.
func (e *differsError) vague() bool {
	rejected, ok := errors.AsType[*handshake.RejectedError](e.error)
	return ok && rejected.Vague
}

// reason returns in what it differs, and leaves out how that was found.
func (e *differsError) reason() string {
	if rejected, ok := errors.AsType[*handshake.RejectedError](e.error); ok {
		return rejected.Text
	}
	return e.Error()
}

// begin has cancel called when a rank differs.
func (m *Joining) begin(cancel context.CancelCauseFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancel, m.here = cancel, map[int]bool{}
	if m.why != nil {
		m.giveUp()
	}
}

// joined notes that a rank is there.
func (m *Joining) joined(rank int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.here[rank] = true
}

// Differs takes note of a rank that was refused.
func (m *Joining) Differs(rank int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.over || m.here[rank]:
	case m.why != nil:
		// A link of several connections is refused several times, and ends the others
		// with the first answer: a vague reason gives way to one that says more.
		if m.why.vague() {
			m.why.error = err
		}
	case m.cancel == nil:
		m.why = &differsError{err}
	default:
		m.why = &differsError{err}
		m.giveUp()
	}
}

// tellTime is how long a rank stays that knows that the job will not come together: the
// others, which find nobody once it has left, may differ from it as well.
const tellTime = 500 * time.Millisecond

// giveUp ends the wait, soon. The caller holds mu.
func (m *Joining) giveUp() {
	time.AfterFunc(tellTime, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.cancel(m.why)
	})
}

// end ends the joining: all ranks are there, or this one has given up.
func (m *Joining) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
}

// connect opens the control channels side by side. The first failure that waiting
// cannot mend ends the others.
func (s *Session) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.joining.begin(cancel)
	defer s.joining.end()
	var wg sync.WaitGroup
	errs := make([]error, len(s.control.peers))
	for r, p := range s.control.peers {
		if p == nil {
			continue
		}
		wg.Go(func() {
			if p.link, errs[r] = s.cfg.Fabric.Link(ctx, r, fabric.Control); errs[r] != nil {
				cancel(errs[r])
				return
			}
			s.joining.joined(r)
			s.wg.Go(func() {
				err := p.link.Recv(s.ctx, &noticeTag, p.in[:])
				if err == nil && noticeKind(p.in[0]) == noticeAbort {
					cancel(parseNotice(&p.in).err())
				}
				p.first <- err
			})
		})
	}
	wg.Wait()
	switch cause := context.Cause(ctx).(type) {
	case *differsError:
		return fmt.Errorf("thunder: rank %d: %w", s.cfg.Rank, cause)
	case *failure.AbortError:
		return cause
	}
	if err := s.absent(context.Cause(ctx), errs); err != nil {
		return fmt.Errorf("thunder: rank %d: %w", s.cfg.Rank, err)
	}
	for _, err := range errs {
		// What the others say is only that the first one ended them.
		if lost, ok := errors.AsType[*fabric.LostError](err); ok {
			return &failure.PeerLostError{Rank: lost.Peer, Host: s.host(lost.Peer), Link: s.cfg.LinkName(lost.Peer), Cause: "the connection to it broke (" + lost.Err.Error() + ")", Err: err}
		}
		if err != nil && errors.Is(err, context.Cause(ctx)) {
			return fmt.Errorf("thunder: rank %d: %w", s.cfg.Rank, err)
		}
	}
	return nil
}

// absent names the ranks that were not there in time, if that is why connect failed.
func (s *Session) absent(cause error, errs []error) error {
	late, ok := errors.AsType[*StartError](cause)
	if !ok {
		return nil
	}
	missing := &rendezvous.MissingError{Size: len(s.control.peers), Waited: late.After}
	var first error
	for r, err := range errs {
		if err != nil {
			missing.Missing = append(missing.Missing, r)
			if first == nil {
				first = err
			}
		}
	}
	if first == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", missing, first)
}

// regret tells the ranks that are there why this one gives up: which rank is missing, or
// differs. They may have met the missing rank and would blame this one; and they need not
// wait for a rank that differs.
func (s *Session) regret(err error) {
	var n *notice
	if missing, ok := errors.AsType[*rendezvous.MissingError](err); ok {
		n = &notice{kind: noticeLost, group: WorldID, rankA: uint32(missing.Missing[0]), text: fmt.Sprintf("rank %d waited %v for it to start", s.cfg.Rank, missing.Waited)}
	} else if differs, ok := errors.AsType[*differsError](err); ok {
		n = &notice{kind: noticeAbort, group: WorldID, rankA: uint32(s.cfg.Rank), text: differs.reason()}
	} else {
		return
	}
	var out [noticeSize]byte
	n.encode(&out)
	ctx, cancel := context.WithTimeout(s.ctx, tellMany)
	defer cancel()
	for _, p := range s.control.peers {
		if p != nil && p.link != nil {
			_ = fabric.Send(ctx, p.link, &noticeTag, out[:]) // a rank that cannot be told has left, too
		}
	}
}

// A StartError is the cause of a start that took too long.
type StartError struct{ After time.Duration }

func (e *StartError) Error() string {
	return fmt.Sprintf("not all ranks were there after %v; start the missing ones, or allow more time with --start-timeout (THUNDER_START_TIMEOUT)", e.After)
}

// Unwrap lets errors.Is find the usual name for it.
func (e *StartError) Unwrap() error { return context.DeadlineExceeded }
