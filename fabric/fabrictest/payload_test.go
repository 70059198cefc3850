package fabrictest

import "testing"

// TestPayload: fill writes what byteAt says, and verify finds every byte that is not.
func TestPayload(t *testing.T) {
	for _, i := range []int{0, 1, 77, 1000} {
		b := make([]byte, 70_000)
		fill(b, i)
		for k, c := range b {
			if c != byteAt(i, k) {
				t.Fatalf("message %d: byte %d is %#x, want %#x", i, k, c, byteAt(i, k))
			}
		}
		for _, off := range []int{0, 1, 255, 256, 65_535} {
			p := append([]byte(nil), b[off:]...)
			if err := verify(i, off, p); err != nil {
				t.Error(err)
			}
			for _, k := range []int{0, 1, 300, len(p) - 1} {
				p[k]++
				if verify(i, off, p) == nil {
					t.Errorf("message %d from %d on: nobody notices that byte %d differs", i, off, off+k)
				}
				p[k]--
			}
		}
	}
}
