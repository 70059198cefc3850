package sysmem

import "testing"

// TestFree: memory is given back whole, and once.
func TestFree(t *testing.T) {
	var p Pages
	b, err := p.Alloc(100_000)
	if err != nil {
		t.Fatal(err)
	}
	b[99_999] = 1
	other := make([]byte, 100_000)
	for name, part := range map[string][]byte{"the end": b[1:], "the beginning": b[:99_999], "something else": other, "nothing": nil} {
		if p.Free(part) == nil {
			t.Errorf("%s was freed", name)
		}
	}
	if err := p.Free(b); err != nil {
		t.Error(err)
	}
	if p.Free(b) == nil {
		t.Error("freed twice")
	}
	if _, err := p.Alloc(0); err == nil {
		t.Error("nothing was allocated")
	}
}
