package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"thundercollective/internal/rendezvous/handshake"
)

// TestJoiningVague: of several refusals, the first that says in what the ranks differ is
// the reason, whichever comes first.
func TestJoiningVague(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var m Joining
		m.begin(cancel)
		vague := &handshake.RejectedError{Code: handshake.RosterDiffers, Text: "something", Vague: true}
		clear := &handshake.RejectedError{Code: handshake.RosterDiffers, Text: "rank 0 is at a, but b"}
		other := &handshake.RejectedError{Code: handshake.RosterDiffers, Text: "rank 1 is at c, but d"}
		for _, err := range []error{vague, clear, other} {
			m.Differs(1, err)
		}
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, clear) {
			t.Errorf("got %v, want %v", cause, clear)
		}
	})
}
