package main

import (
	"fmt"

	"thundercollective/internal/bench"

	"golang.org/x/sys/unix"
)

// leastSpace is the address space that a process of this program may need besides its
// buffers: the runtime reserves most of it, the C library some for each thread.
const leastSpace = 2 << 30

// checkAddressSpace returns an error if this process, or one that it starts, may not have
// leastSpace and buffers of the given length. Without the check the runtime would end the
// process, with a trace of its threads.
func checkAddressSpace(buffers int64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || limit.Cur >= uint64(leastSpace+buffers) {
		return nil
	}
	need := "thunder needs " + bench.FormatSize(leastSpace)
	if buffers > 0 {
		need += fmt.Sprintf(" and %s for buffers", bench.FormatSize(float64(buffers)))
	}
	return fmt.Errorf("the address space of a process is limited to %s, but %s; raise the limit: ulimit -v unlimited",
		bench.FormatSize(float64(limit.Cur)), need)
}
