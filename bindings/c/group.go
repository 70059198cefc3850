//go:build cgo

package main

// #include "entry.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"thundercollective"
)

// A group is a Comm that the C program has a handle of.
type group struct {
	*thunder.Comm
	blocked atomic.Int32 // calls that threads of the program wait in

	mu     sync.Mutex
	memory map[unsafe.Pointer][]byte // from Alloc
}

var groups table[*group]

var errNoGroup = &invalidError{errors.New("thunder: no such group, or it was closed")}

// with calls f with the group of a handle.
func with(c C.thunder_comm, f func(g *group) error) C.int {
	g, ok := groups.get(uint64(c))
	if !ok {
		return fail(errNoGroup)
	}
	return report(f(g))
}

//export goInit
func goInit(o *C.thunder_options, out *C.thunder_comm) C.int {
	opts, err := optionsOf(o)
	if err != nil {
		return fail(&invalidError{err})
	}
	c, err := thunder.Init(context.Background(), opts)
	if err != nil {
		return fail(err)
	}
	*out = C.thunder_comm(groups.add(&group{Comm: c}))
	return C.THUNDER_OK
}

func optionsOf(o *C.thunder_options) (thunder.Options, error) {
	if o == nil {
		return thunder.Options{}, nil
	}
	opts := thunder.Options{
		Join: thunder.Join{
			Rank: int(o.rank), Size: int(o.size), Addrs: strings.Fields(C.GoString(o.addrs)),
			Coordinator: C.GoString(o.coordinator), Hostfile: C.GoString(o.hostfile),
			StartTimeout: time.Duration(o.start_timeout_ms) * time.Millisecond,
		},
		Security:  thunder.Security{Insecure: o.insecure != 0},
		Transport: thunder.Transport{Streams: int(o.streams), Fabric: C.GoString(o.fabric)},
		Timeout:   time.Duration(o.timeout_ms) * time.Millisecond,
	}
	if o.token != nil {
		opts.Security.Token = C.GoBytes(o.token, C.int(o.token_len))
	}
	if name := C.GoString(o.algo); name != "" {
		algo, err := thunder.ParseAlgo(name)
		if err != nil {
			return opts, fmt.Errorf("thunder: %w", err)
		}
		opts.Tuning.Algo = algo
	}
	return opts, nil
}

//export goClose
func goClose(c C.thunder_comm) C.int {
	g, ok := groups.remove(uint64(c))
	if !ok {
		return fail(errNoGroup)
	}
	return report(g.Close())
}

//export goSplit
func goSplit(c C.thunder_comm, color, key C.int64_t, out *C.thunder_comm) C.int {
	*out = 0
	return with(c, func(g *group) error {
		defer g.block()()
		sub, err := g.Split(context.Background(), int(color), int(key))
		if err != nil || sub == nil {
			return err
		}
		*out = C.thunder_comm(groups.add(&group{Comm: sub}))
		return nil
	})
}

// block counts a thread as waiting in a call until the returned function is called.
func (g *group) block() func() {
	g.blocked.Add(1)
	return func() { g.blocked.Add(-1) }
}

//export goRank
func goRank(c C.thunder_comm) C.int {
	g, ok := groups.get(uint64(c))
	if !ok {
		return -1
	}
	return C.int(g.Rank())
}

//export goSize
func goSize(c C.thunder_comm) C.int {
	g, ok := groups.get(uint64(c))
	if !ok {
		return -1
	}
	return C.int(g.Size())
}

//export goFabric
func goFabric(c C.thunder_comm, out *C.char, n C.size_t) C.int {
	return with(c, func(g *group) error {
		name := g.Fabric()
		if uint64(len(name)) >= uint64(n) {
			return &invalidError{fmt.Errorf("thunder: a buffer of %d bytes is too small for the name %q", n, name)}
		}
		dst := unsafe.Slice((*byte)(unsafe.Pointer(out)), n)
		dst[copy(dst, name)] = 0
		return nil
	})
}

//export goCommError
func goCommError(c C.thunder_comm) C.int {
	return with(c, func(g *group) error { return g.Err() })
}

//export goAbort
func goAbort(c C.thunder_comm, reason *C.char) C.int {
	return with(c, func(g *group) error {
		g.Abort(C.GoString(reason))
		return nil
	})
}

//export goInterrupt
func goInterrupt(reason *C.char) C.int {
	n := 0
	for _, g := range groups.all() {
		if g.blocked.Load() > 0 {
			g.Abort(C.GoString(reason))
			n++
		}
	}
	return C.int(n)
}

//export goAlloc
func goAlloc(c C.thunder_comm, n C.size_t, out *unsafe.Pointer) C.int {
	*out = nil
	return with(c, func(g *group) error {
		b, err := g.Alloc(int(n))
		if err != nil {
			return err
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.memory == nil {
			g.memory = map[unsafe.Pointer][]byte{}
		}
		*out = unsafe.Pointer(unsafe.SliceData(b))
		g.memory[*out] = b
		return nil
	})
}

//export goFree
func goFree(c C.thunder_comm, p unsafe.Pointer) C.int {
	return with(c, func(g *group) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		b, ok := g.memory[p]
		if !ok {
			return &invalidError{fmt.Errorf("thunder: %p was not allocated with this group", p)}
		}
		delete(g.memory, p)
		return g.Free(b)
	})
}
