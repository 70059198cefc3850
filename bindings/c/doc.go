//go:build cgo

// Command c is the C interface, built as a shared library:
//
//	go build -buildmode=c-shared -o libthunder.so ./bindings/c
//
// Programs include thunder.h, which is its manual, and link with -lthunder; the
// header that the Go tool writes beside the library is not for them. The Python
// package (directory python) loads the same library.
//
// There is no logic here: entry.c keeps calls of forked children away from the Go
// runtime, named.c fills in requests, and the Go side turns handles and C structs
// into calls of package thunder. It is the one package of the module that needs
// cgo; without it, it is left out of builds.
package main

func main() {} // -buildmode=c-shared wants one; nobody calls it
