// Package verbs calls the system's RDMA library, libibverbs on Linux and librdma
// on macOS, without cgo: the library is loaded when a Host is made, so a program
// that links this package starts everywhere and says clearly what is missing
// where RDMA is wanted and the library is not there.
//
// It is a thin layer: one Go method per verb that provider/rdma needs, in the
// shape of the interfaces of internal/hca. The verbs on the data path (posting,
// polling, arming) are inline functions in C; here they are called through the
// table of operations in ibv_context, as the C header does.
//
// Whatever the library or the device may look at (work requests, completions,
// attributes, payload) lies in mapped memory outside the Go heap. Every
// assumption about the layout of C structs is in layout.go, and a test compiles
// a C program against the installed header to check them.
package verbs
