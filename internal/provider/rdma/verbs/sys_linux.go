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

// errnoFunc finds the C library's function that tells where errno is.
func errnoFunc() (uintptr, error) { return purego.Dlsym(purego.RTLD_DEFAULT, "__errno_location") }

// adjust completes the limits with what no verb tells.
func adjust(l *hca.Limits) {
	l.HopLimit = 64
}

// isRoCEv1 asks sysfs for the kind of a GID; no exported verb tells it.
func isRoCEv1(dev string, port, index int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/sys/class/infiniband/%s/ports/%d/gid_attrs/types/%d", dev, port, index))
	return err == nil && bytes.HasPrefix(b, []byte("IB/RoCE v1"))
}
