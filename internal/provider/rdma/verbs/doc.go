// Package verbs calls the system's RDMA library, libibverbs on Linux and librdma
// on macOS, without cgo. The library is loaded when a Host is made, so a program that
// links this package starts everywhere; if the library is missing, NewHost returns an
// error that tells what to install.
//
// It is a thin layer: one Go method per verb that package rdma needs, as the interfaces
// of internal/hca define them. The verbs on the data path (posting,
// polling, arming) are inline functions in C; here they are called through the
// table of operations in ibv_context, as the C header does.
//
// Everything that the library or the device accesses (work requests, completions,
// attributes, payload) is in mapped memory outside the Go heap. All assumptions about
// the layout of C structs are in layout.go; a test compiles a C program against the
// installed header to check them.
package verbs
