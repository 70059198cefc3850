// Package hugetest looks at the pages of a test's memory.
package hugetest

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Memory returns n bytes of ordinary pages, in a mapping of its own, until the test ends.
// They begin a page past where a huge page would.
func Memory(t testing.TB, n int) []byte {
	t.Helper()
	const huge = 2 << 20
	mem, err := unix.Mmap(-1, 0, n+4*huge, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	at := int(-uintptr(unsafe.Pointer(&mem[0]))&(huge-1)) + huge
	b := mem[at:][:n+4096]
	if err := unix.Mprotect(b, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		t.Fatal(err)
	}
	clear(b) // page by page: nobody has asked for more
	return b[4096:]
}

// Huge is how many bytes of the mapping that holds b lie in huge pages.
func Huge(t testing.TB, b []byte) (n int) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at, inside := uintptr(unsafe.Pointer(&b[0])), false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to uintptr
		if k, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); k == 2 {
			inside = from <= at && at < to
		}
		if rest, ok := strings.CutPrefix(lines.Text(), "AnonHugePages:"); ok && inside {
			fmt.Sscan(rest, &n)
			return n << 10
		}
	}
	t.Fatal("the mapping is not listed")
	return 0
}

// OnDemand skips the test where pages are not huge on demand and only then.
func OnDemand(t testing.TB) {
	t.Helper()
	s, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || !strings.Contains(string(s), "[madvise]") {
		t.Skipf("needs a system in which pages are huge on demand: %s %v", s, err)
	}
}
