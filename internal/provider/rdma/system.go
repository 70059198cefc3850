//go:build !nordma

package rdma

import (
	"thundercollective/internal/provider/rdma/internal/hca"
	"thundercollective/internal/provider/rdma/verbs"
)

// systemHost loads the system's RDMA library. On Linux, this makes the program depend on
// the C library's dynamic linker.
func systemHost() (hca.Host, error) {
	h, err := verbs.NewHost()
	if err != nil {
		return nil, err
	}
	return h, nil
}
