package group

import (
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/reduce"
)

// FuzzCall decodes any tag, describes it, and encodes it back.
func FuzzCall(f *testing.F) {
	ok := (&call{generation: 1, group: 2, seq: 3, kind: collective.AllReduce, op: reduce.Sum, dtype: reduce.F32, algo: collective.Ring, count: 1 << 40}).tag()
	f.Add(ok[:])
	f.Add(make([]byte, fabric.TagSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < fabric.TagSize {
			return
		}
		tag := fabric.Tag(b)
		c := callOf(&tag)
		if c.String() == "" {
			t.Error("no description")
		}
		if back := c.tag(); back != tag {
			t.Errorf("%x became %x", tag, back)
		}
	})
}
