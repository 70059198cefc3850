package simnet_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/simnet"
)

// TestFaults sends one message through each fault.
func TestFaults(t *testing.T) {
	var lost *fabric.LostError
	var tag *fabric.TagError
	for name, tt := range map[string]struct {
		fault func(*simnet.Net)
		after time.Duration // when it arrives
		want  any           // or how it fails
	}{
		"none":    {fault: func(*simnet.Net) {}},
		"delay":   {fault: func(n *simnet.Net) { n.Delay(0, 1, time.Second) }, after: time.Second},
		"cut":     {fault: func(n *simnet.Net) { n.Cut(0, 1); time.AfterFunc(time.Minute, func() { n.Heal(0, 1) }) }, after: time.Minute},
		"isolate": {fault: func(n *simnet.Net) { n.Isolate(1); time.AfterFunc(time.Hour, func() { n.Rejoin(1) }) }, after: time.Hour},
		"other":   {fault: func(n *simnet.Net) { n.Cut(1, 0); n.Isolate(2) }},
		"reset":   {fault: func(n *simnet.Net) { n.Reset(1, 0) }, want: &lost},
		"kill":    {fault: func(n *simnet.Net) { n.Kill(0) }, want: &lost},
		"corrupt": {fault: func(n *simnet.Net) { n.Corrupt(0, 1) }, want: &tag},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := simnet.New(3)
				f := n.Fabrics()
				a, _ := f[0].Link(t.Context(), 1, 1)
				b, _ := f[1].Link(t.Context(), 0, 1)
				tt.fault(n)
				begun := time.Now()
				_ = fabric.Send(t.Context(), a, &fabric.Tag{}, []byte("x"))
				err := b.Recv(t.Context(), &fabric.Tag{}, make([]byte, 1))
				if took := time.Since(begun); took != tt.after {
					t.Errorf("took %v, want %v", took, tt.after)
				}
				if tt.want == nil && err != nil || tt.want != nil && !errors.As(err, tt.want) {
					t.Errorf("got %v, want %T", err, tt.want)
				}
			})
		})
	}
}

// TestBadPeer refuses a link to nobody.
func TestBadPeer(t *testing.T) {
	f := simnet.New(2).Fabrics()[0]
	for _, peer := range []int{-1, 0, 2} {
		if _, err := f.Link(context.Background(), peer, 1); err == nil {
			t.Errorf("a link to rank %d", peer)
		}
	}
}
