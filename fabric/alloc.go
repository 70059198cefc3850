package fabric

// An Allocator is a Fabric with memory of its own, which it moves without a copy
// at the ends where it can. Memory of the Go heap works everywhere too; it costs
// a copy.
type Allocator interface {
	// Alloc returns n bytes, zeroed, at an address aligned for every element
	// type and the same for as long as they live. They live until Free, or
	// until the Fabric is closed.
	Alloc(n int) ([]byte, error)
	// Free gives back memory of Alloc, which must be passed as it was returned
	// and not be in use by any call.
	Free(b []byte) error
}
