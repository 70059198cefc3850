// Package ticks reads the time for the books of operations that take less than a
// microsecond, of which reading the system's clock twice would be a good part.
//
// A Clock counts ticks: those of the processor's own counter where the system keeps its
// time by that as well, nanoseconds elsewhere. They become times only when somebody reads
// the books. The counter is read without waiting for what the processor is doing just
// then, so a time may be off by what it runs ahead: a tenth of a microsecond at most.
package ticks
