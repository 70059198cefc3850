// Package ticks measures operations that take less than a microsecond, for which reading
// the system's clock twice would cost too much.
//
// A Clock counts ticks: those of the processor's counter where the system's own clock is
// based on it, nanoseconds elsewhere. Ticks are converted to times only when statistics
// are read. The counter is read without waiting for earlier instructions, so a time may
// be wrong by up to a tenth of a microsecond.
package ticks
