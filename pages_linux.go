package thunder

import "golang.org/x/sys/unix"

// hugePage is their size where there are any; elsewhere nothing is lost.
const hugePage = 2 << 20

// preferHugePages asks for huge pages beneath b. Sockets copy from and to them faster:
// most of what they lose on small ones is looking up where they are. A system that
// does not have them for everyone who asks goes on with small ones.
func preferHugePages(b []byte) {
	if len(b) >= hugePage {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}
