package collective

import (
	"slices"
	"testing"
)

func TestKindNames(t *testing.T) {
	want := []string{
		"allreduce", "reducescatter", "allgather", "broadcast", "reduce", "gather",
		"scatter", "alltoall", "barrier", "send", "recv", "sendrecv",
	}
	for i, name := range want {
		k, err := ParseKind(name)
		if err != nil || k != Kind(i+1) || k.String() != name {
			t.Errorf("ParseKind(%q) = %v (%d), %v; want number %d", name, k, k, err, i+1)
		}
	}
	for _, name := range []string{"", "AllReduce", "kind(0)"} {
		if k, err := ParseKind(name); err == nil {
			t.Errorf("ParseKind(%q) = %v, want an error", name, k)
		}
	}
	if got := Kind(0).String(); got != "kind(0)" {
		t.Errorf("Kind(0) is called %q", got)
	}
}

func TestAlgoNames(t *testing.T) {
	want := []string{"auto", "ring", "biring", "direct", "rd", "hd", "tree"}
	for i, name := range want {
		a, err := ParseAlgo(name)
		if err != nil || a != Algo(i) || a.String() != name {
			t.Errorf("ParseAlgo(%q) = %v (%d), %v; want number %d", name, a, a, err, i)
		}
	}
	if a, err := ParseAlgo("rings"); err == nil {
		t.Errorf("ParseAlgo(rings) = %v, want an error", a)
	}
	if got := Algo(99).String(); got != "algo(99)" {
		t.Errorf("Algo(99) is called %q", got)
	}
}

// TestChoose checks that there is always a choice, and that it exists.
func TestChoose(t *testing.T) {
	for k := AllReduce; k.Valid(); k++ {
		for size := 1; size <= 33; size++ {
			for bytes := 0; bytes <= 1<<30; bytes = 3*bytes + 1 {
				if a := Choose(k, size, bytes); !slices.Contains(Algos(k), a) {
					t.Fatalf("Choose(%v, %d, %d) = %v, which does not exist", k, size, bytes, a)
				}
			}
		}
	}
	if Algos(0) != nil {
		t.Error("no operation, yet it has algorithms")
	}
}
