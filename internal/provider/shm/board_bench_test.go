package shm_test

import (
	"testing"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/shm"
)

// BenchmarkBoard is a round in which two ranks show each other a few bytes.
func BenchmarkBoard(b *testing.B) {
	fs := ranks(b, 2, shm.Config{Spin: 50 * time.Microsecond})
	defer fs[0].Close()
	defer fs[1].Close()
	tag := &fabric.Tag{1}
	rounds := func(r int) error {
		m, err := fs[r].Memory(b.Context(), 1, []int{0, 1})
		if err != nil {
			return err
		}
		defer m.Close()
		board := m.Board()
		buf := make([]byte, 8)
		if r == 0 {
			b.ResetTimer()
		}
		for range b.N {
			if err := board.Show(b.Context(), tag, buf); err != nil {
				return err
			}
			if _, err := board.Look(b.Context(), 1-r, tag, len(buf)); err != nil {
				return err
			}
			board.Next()
		}
		return nil
	}
	other := make(chan error, 1)
	go func() { other <- rounds(1) }()
	if err := rounds(0); err != nil {
		b.Error(err)
	}
	if err := <-other; err != nil {
		b.Error(err)
	}
}
