package group

import (
	"sync"
	"sync/atomic"
)

// outcome is how a group has ended, if it has.
type outcome struct {
	failed  atomic.Bool // failure is set
	mu      sync.Mutex
	failure error
}

// Err returns why the group has ended; nil while it works.
func (o *outcome) Err() error {
	if !o.failed.Load() {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failure
}

// SetFailure records why the group ends. It reports whether it is the first to do so;
// Finish comes next.
func (o *outcome) SetFailure(err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failure != nil {
		return false
	}
	o.failure = err
	o.failed.Store(true)
	return true
}
