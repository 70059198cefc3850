package linktable

import (
	"errors"
	"testing"

	"thundercollective/fabric"
)

func TestTable(t *testing.T) {
	var table Table[*int]
	made := 0
	get := func(k Key, useless func(*int) bool) (*int, bool) {
		t.Helper()
		l, isNew, err := table.Get(k, useless, func() *int { made++; n := made; return &n })
		if err != nil {
			t.Fatal(err)
		}
		return l, isNew
	}
	a, isNew := get(Key{1, 2}, nil)
	if again, second := get(Key{1, 2}, func(*int) bool { return false }); again != a || !isNew || second {
		t.Error("the same link is not made once")
	}
	if b, isNew := get(Key{1, 3}, nil); b == a || !isNew {
		t.Error("another channel is not another link")
	}
	if c, isNew := get(Key{1, 2}, func(l *int) bool { return l == a }); c == a || !isNew {
		t.Error("a useless link is not replaced")
	}
	if n := len(table.All()); n != 2 || table.Len() != 2 {
		t.Errorf("%d links, or %d", n, table.Len())
	}
	if !table.Close() || table.Close() {
		t.Error("it is not closed once")
	}
	if _, _, err := table.Get(Key{1, 2}, nil, nil); !errors.Is(err, fabric.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if len(table.All()) != 2 {
		t.Error("the links are gone after Close")
	}
}

func TestCheckPeer(t *testing.T) {
	for peer, ok := range map[int]bool{-1: false, 0: true, 1: false, 2: true, 3: false} {
		if err := CheckPeer("tcp", 1, peer, 3); (err == nil) != ok {
			t.Errorf("rank 1 of 3 to rank %d: %v", peer, err)
		}
	}
}
