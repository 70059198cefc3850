package verbs

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// A MissingError reports that the system has no usable RDMA library.
type MissingError struct {
	Library string // its name
	Fix     string // what to do about it
	Err     error  // of the loader
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("no RDMA library %s on this system: %s (%v)", e.Library, e.Fix, e.Err)
}

func (e *MissingError) Unwrap() error { return e.Err }

// An Error is the failure of a verb.
type Error struct {
	Verb  string
	Errno syscall.Errno // 0 if the library did not set one
}

func (e *Error) Error() string {
	if e.Errno == 0 {
		return e.Verb + " failed"
	}
	return fmt.Sprintf("%s: %v (errno %d)", e.Verb, e.Errno, int(e.Errno))
}

func (e *Error) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

// verb is one exported function of the library.
type verb struct {
	name  string
	fn    uintptr
	errno uintptr // function that returns the address of errno; 0 if each call returns errno
}

// call returns the result of the function and errno. errno belongs to the thread, so both
// are read on the same one; nothing else on it calls the C library in between.
func (v verb) call(args ...uintptr) (uintptr, syscall.Errno) {
	if v.errno == 0 {
		r, _, errno := purego.SyscallN(v.fn, args...)
		return r, syscall.Errno(errno)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, _, _ := purego.SyscallN(v.fn, args...)
	p, _, _ := purego.SyscallN(v.errno)
	return r, syscall.Errno(*at[int32](p))
}

// object calls a function that returns a pointer, or null and errno.
func (v verb) object(args ...uintptr) (uintptr, error) {
	p, errno := v.call(args...)
	if p == 0 {
		return 0, &Error{Verb: v.name, Errno: errno}
	}
	return p, nil
}

// do calls a function that returns an int: 0, an error number, or -1 and errno.
func (v verb) do(args ...uintptr) error {
	r, errno := v.call(args...)
	switch rc := int32(r); {
	case rc == 0:
		return nil
	case rc > 0:
		return &Error{Verb: v.name, Errno: syscall.Errno(rc)}
	default:
		return &Error{Verb: v.name, Errno: errno}
	}
}

// library holds the functions that this package calls.
type library struct {
	getDeviceList, freeDeviceList, getDeviceName verb
	openDevice, closeDevice, queryDevice         verb
	queryPort, queryGID                          verb
	allocPD, deallocPD, regMR, deregMR           verb
	createCompChannel, destroyCompChannel        verb
	createCQ, destroyCQ, getCQEvent, ackCQEvents verb
	createQP, modifyQP, destroyQP                verb
}

// load opens the first of the libraries that exists.
func load(names []string) (*library, error) {
	var handle uintptr
	var err error
	for _, name := range names {
		if handle, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			break
		}
	}
	if err != nil {
		return nil, &MissingError{Library: names[0], Fix: missingFix, Err: err}
	}
	errno, err := errnoFunc()
	if err != nil {
		return nil, &MissingError{Library: names[0], Fix: missingFix, Err: err}
	}
	l := &library{}
	for name, v := range map[string]*verb{
		"ibv_get_device_list": &l.getDeviceList, "ibv_free_device_list": &l.freeDeviceList,
		"ibv_get_device_name": &l.getDeviceName, "ibv_open_device": &l.openDevice,
		"ibv_close_device": &l.closeDevice, "ibv_query_device": &l.queryDevice,
		"ibv_query_port": &l.queryPort, "ibv_query_gid": &l.queryGID,
		"ibv_alloc_pd": &l.allocPD, "ibv_dealloc_pd": &l.deallocPD,
		"ibv_reg_mr": &l.regMR, "ibv_dereg_mr": &l.deregMR,
		"ibv_create_comp_channel": &l.createCompChannel, "ibv_destroy_comp_channel": &l.destroyCompChannel,
		"ibv_create_cq": &l.createCQ, "ibv_destroy_cq": &l.destroyCQ,
		"ibv_get_cq_event": &l.getCQEvent, "ibv_ack_cq_events": &l.ackCQEvents,
		"ibv_create_qp": &l.createQP, "ibv_modify_qp": &l.modifyQP, "ibv_destroy_qp": &l.destroyQP,
	} {
		fn, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, &MissingError{Library: names[0], Fix: missingFix, Err: err}
		}
		*v = verb{name, fn, errno}
	}
	return l, nil
}

// at returns a pointer to the C object at address p. It is the only place where a number
// becomes a pointer; p never points into the Go heap.
func at[T any](p uintptr) *T {
	return *(**T)(unsafe.Pointer(&p))
}

// cString copies a C string.
func cString(p uintptr) string {
	var b []byte
	for c := *at[byte](p); c != 0; c = *at[byte](p) {
		b = append(b, c)
		p++
	}
	return string(b)
}
