package plural

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 cables", 1: "1 cable", 2: "2 cables"} {
		if got := Count(n, "cable"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
