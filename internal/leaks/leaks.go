// Package leaks finds goroutines that tests leave behind. Only tests use it.
package leaks

import (
	"testing"

	"go.uber.org/goleak"
)

// attempts is how often goleak looks, for almost half a second each time: on a busy
// machine a goroutine that is done may have to wait before it is gone.
var attempts = 20

// Find returns an error that lists the goroutines which are there and stay, except those
// that the options leave out.
func Find(options ...goleak.Option) (err error) {
	for range attempts {
		if err = goleak.Find(options...); err == nil {
			return nil
		}
	}
	return err
}

// Check fails the test if goroutines are there in the end that were not when it was
// called. Call it first, so that it looks after all other cleanups.
func Check(t testing.TB) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if err := Find(before); err != nil {
			t.Error(err)
		}
	})
}
