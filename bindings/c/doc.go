//go:build cgo

// Command c is the C interface, built as a shared library:
//
//	go build -buildmode=c-shared -o libthunder.so ./bindings/c
//
// Programs include thunder.h, which documents the interface and its errors, and link with
// -lthunder. They do not need the header that the Go tool writes next to the library. The
// Python package (directory python) loads the same library.
//
// The package contains no logic of its own: entry.c keeps calls of forked children away
// from the Go runtime, named.c fills in requests, and the Go files translate handles and C
// structs into calls of package thunder. No other package of the module needs cgo; without
// cgo, builds leave it out.
package main

func main() {} // required by -buildmode=c-shared; never called
