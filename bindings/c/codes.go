//go:build cgo

package main

// #include "entry.h"
import "C"

import (
	"errors"
	"unsafe"

	"thundercollective"
)

// The numbers in thunder.h are those of package thunder; this does not compile if they
// differ.
var (
	_ = [1]struct{}{}[C.THUNDER_F32-int(thunder.F32)]
	_ = [1]struct{}{}[C.THUNDER_BOOL-int(thunder.Bool)]
	_ = [1]struct{}{}[C.THUNDER_SUM-int(thunder.Sum)]
	_ = [1]struct{}{}[C.THUNDER_XOR-int(thunder.Xor)]
	_ = [1]struct{}{}[C.THUNDER_ALL_REDUCE-int(thunder.KindAllReduce)]
	_ = [1]struct{}{}[C.THUNDER_SEND_RECV-int(thunder.KindSendRecv)]
)

// fail sets the last error of the calling thread and returns the code of err.
func fail(err error) C.int {
	text := err.Error()
	C.thunder_set_error((*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text)))
	return codeOf(err)
}

// report is like fail, but err may be nil.
func report(err error) C.int {
	if err == nil {
		return C.THUNDER_OK
	}
	return fail(err)
}

func codeOf(err error) C.int {
	var (
		lost     *thunder.PeerLostError
		timeout  *thunder.TimeoutError
		mismatch *thunder.MismatchError
		auth     *thunder.AuthError
		abort    *thunder.AbortError
		closed   *thunder.ClosedError
		invalid  *invalidError
		option   *thunder.OptionError
	)
	switch {
	case errors.As(err, &lost):
		return C.THUNDER_PEER_LOST
	case errors.As(err, &timeout):
		return C.THUNDER_TIMEOUT
	case errors.As(err, &mismatch):
		return C.THUNDER_MISMATCH
	case errors.As(err, &auth):
		return C.THUNDER_AUTH
	case errors.As(err, &abort):
		return C.THUNDER_ABORTED
	case errors.As(err, &closed):
		return C.THUNDER_CLOSED
	case errors.As(err, &invalid), errors.As(err, &option):
		return C.THUNDER_INVALID
	}
	return C.THUNDER_ERROR
}

// An invalidError is the error of an invalid call, which had no effect.
type invalidError struct{ err error }

func (e *invalidError) Error() string { return e.err.Error() }
func (e *invalidError) Unwrap() error { return e.err }
