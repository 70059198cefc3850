package publish

import (
	"sync/atomic"
	"testing"
)

// BenchmarkAdd compares Add with what it could be instead.
func BenchmarkAdd(b *testing.B) {
	var c atomic.Uint64
	b.Run("Add", func(b *testing.B) {
		for b.Loop() {
			Add(&c, 3)
		}
	})
	b.Run("Word", func(b *testing.B) {
		for b.Loop() {
			Word(&c, c.Load()+3)
		}
	})
	b.Run("atomic.Store", func(b *testing.B) {
		for b.Loop() {
			c.Store(c.Load() + 3)
		}
	})
	b.Run("atomic.Add", func(b *testing.B) {
		for b.Loop() {
			c.Add(3)
		}
	})
}
