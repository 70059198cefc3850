package local

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestSharesAreDisjoint(t *testing.T) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	n := all.Count()
	var taken unix.CPUSet
	for rank := range n {
		mine, ok := share(rank, n)
		if !ok || mine.Count() != 1 {
			t.Fatalf("rank %d of %d has %d processors", rank, n, mine.Count())
		}
		for cpu := range 1024 {
			if mine.IsSet(cpu) {
				if taken.IsSet(cpu) || !all.IsSet(cpu) {
					t.Errorf("rank %d has processor %d, which is another's", rank, cpu)
				}
				taken.Set(cpu)
			}
		}
	}
	users := map[unix.CPUSet]int{}
	for rank := range 2 * n {
		mine, ok := share(rank, 2*n)
		if !ok || mine.Count() != 1 {
			t.Fatalf("rank %d of %d has %d processors", rank, 2*n, mine.Count())
		}
		users[mine]++
	}
	for cpu, ranks := range users {
		if ranks != 2 || len(users) != n {
			t.Errorf("%d of %d ranks share %v, one of %d processors in use", ranks, 2*n, cpu, len(users))
		}
	}
	if CanBind(n + 1) {
		t.Errorf("%d ranks have processors of their own on %d", n+1, n)
	}
}

func TestBoundRestoresTheThread(t *testing.T) {
	var inside unix.CPUSet
	err := bound(0, 1, func() error { return unix.SchedGetaffinity(0, &inside) })
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := share(0, 1); inside != want {
		t.Error("the process would not have had its share")
	}
}
