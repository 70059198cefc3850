//go:build cgo

package main

// #include <stdlib.h>
// #include "entry.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"thundercollective"
)

// An operation is a Work that the C program has a handle of.
type operation struct {
	*thunder.Work
	group *group
}

var operations table[operation]

// lookUp returns the group of a handle and the request in Go's terms.
func lookUp(c C.thunder_comm, r *C.thunder_request) (*group, thunder.Request, error) {
	g, ok := groups.get(uint64(c))
	if !ok {
		return nil, thunder.Request{}, errNoGroup
	}
	req, err := requestOf(g, r)
	return g, req, err
}

//export goRun
func goRun(c C.thunder_comm, r *C.thunder_request) C.int {
	g, req, err := lookUp(c, r)
	if err != nil {
		return fail(err)
	}
	g.blocked.Add(1)
	defer g.blocked.Add(-1)
	ctx, cancel := deadline(r)
	defer cancel()
	return report(refused(g, g.Do(ctx, &req)))
}

//export goStart
func goStart(c C.thunder_comm, r *C.thunder_request, done C.thunder_callback, arg unsafe.Pointer, out *C.thunder_work) C.int {
	g, req, err := lookUp(c, r)
	if err != nil {
		return fail(err)
	}
	ctx, cancel := deadline(r)
	w := g.Start(ctx, &req)
	if err := refused(g, w.Err()); err != nil {
		cancel()
		return fail(err)
	}
	if out != nil {
		*out = C.thunder_work(operations.add(operation{w, g}))
	}
	if done == nil && r.timeout_ms <= 0 {
		return C.THUNDER_OK
	}
	go func() {
		err := w.Wait()
		cancel()
		if done != nil {
			callBack(done, arg, err)
		}
	}()
	return C.THUNDER_OK
}

func callBack(done C.thunder_callback, arg unsafe.Pointer, err error) {
	if err == nil {
		C.thunder_call_back(done, arg, C.THUNDER_OK, nil)
		return
	}
	text := C.CString(err.Error())
	defer C.free(unsafe.Pointer(text))
	C.thunder_call_back(done, arg, codeOf(err), text)
}

//export goWait
func goWait(w C.thunder_work, timeoutMS C.int64_t) C.int {
	op, ok := operations.get(uint64(w))
	if !ok {
		return fail(&invalidError{errors.New("thunder: no such operation, or it was released")})
	}
	select {
	case <-op.Done():
		return report(op.Err())
	default:
	}
	if timeoutMS == 0 {
		return C.THUNDER_RUNNING
	}
	op.group.blocked.Add(1)
	defer op.group.blocked.Add(-1)
	if timeoutMS < 0 {
		return report(op.Wait())
	}
	timer := time.NewTimer(time.Duration(timeoutMS) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-op.Done():
		return report(op.Err())
	case <-timer.C:
		return C.THUNDER_RUNNING
	}
}

//export goRelease
func goRelease(w C.thunder_work) C.int {
	if _, ok := operations.remove(uint64(w)); !ok {
		return fail(&invalidError{errors.New("thunder: no such operation, or it was released")})
	}
	return C.THUNDER_OK
}

// deadline returns the context of a request.
func deadline(r *C.thunder_request) (context.Context, context.CancelFunc) {
	if r.timeout_ms <= 0 {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), time.Duration(r.timeout_ms)*time.Millisecond)
}

// refused makes an invalidError of an error that did not affect the group: the call itself
// was invalid.
func refused(g *group, err error) error {
	if err == nil || g.Err() != nil {
		return err
	}
	return &invalidError{err}
}

// requestOf converts a request. Its buffers are the program's memory, used in place.
func requestOf(g *group, r *C.thunder_request) (thunder.Request, error) {
	req := thunder.Request{
		Kind: thunder.Kind(r.kind), DType: thunder.DType(r.dtype), Op: thunder.Op(r.op),
		Root: int(r.root), From: int(r.from), Varying: r.varying != 0,
		Send:       bytesAt(r.send, r.send_bytes),
		Recv:       bytesAt(r.recv, r.recv_bytes),
		SendCounts: countsAt(r.send_counts, g.Size()),
		RecvCounts: countsAt(r.recv_counts, g.Size()),
	}
	if C.int32_t(req.Kind) != r.kind || C.int32_t(req.DType) != r.dtype || C.int32_t(req.Op) != r.op {
		return req, &invalidError{fmt.Errorf("thunder: unknown operation %d, element type %d or reduction %d", r.kind, r.dtype, r.op)}
	}
	return req, nil
}

func bytesAt(p unsafe.Pointer, n C.size_t) []byte {
	return unsafe.Slice((*byte)(p), n)
}

func countsAt(p *C.int64_t, n int) []int {
	if p == nil {
		return nil
	}
	counts := make([]int, n)
	for i, c := range unsafe.Slice(p, n) {
		counts[i] = int(c)
	}
	return counts
}
