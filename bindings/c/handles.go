//go:build cgo

package main

import "sync"

// A table holds Go values under handles, which the C program keeps. A handle that was
// never valid, or has been removed, finds nothing.
type table[T any] struct {
	mu   sync.RWMutex
	last uint64
	m    map[uint64]T
}

func (t *table[T]) add(v T) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.m == nil {
		t.m = map[uint64]T{}
	}
	t.last++
	t.m[t.last] = v
	return t.last
}

func (t *table[T]) get(h uint64) (v T, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	v, ok = t.m[h]
	return v, ok
}

func (t *table[T]) remove(h uint64) (v T, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v, ok = t.m[h]
	delete(t.m, h)
	return v, ok
}

func (t *table[T]) all() []T {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]T, 0, len(t.m))
	for _, v := range t.m {
		list = append(list, v)
	}
	return list
}
