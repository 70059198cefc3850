package verbs

import (
	"bytes"
	"fmt"
	"os"

	"github.com/ebitengine/purego"

	"thundercollective/internal/provider/rdma/internal/hca"
)

var libraryNames = []string{"libibverbs.so.1", "libibverbs.so"}

const missingFix = "install it (apt install libibverbs1 ibverbs-providers, or dnf install libibverbs)"

// errnoFunc finds the C library's function that returns the address of errno.
func errnoFunc() (uintptr, error) { return purego.Dlsym(purego.RTLD_DEFAULT, "__errno_location") }

// adjust sets the limits that no verb reports.
func adjust(l *hca.Limits) {
	l.HopLimit = 64
}

// isRoCEv1 reports whether a GID is for RoCE v1. It reads sysfs, since no exported verb
// tells.
func isRoCEv1(dev string, port, index int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/sys/class/infiniband/%s/ports/%d/gid_attrs/types/%d", dev, port, index))
	return err == nil && bytes.HasPrefix(b, []byte("IB/RoCE v1"))
}
