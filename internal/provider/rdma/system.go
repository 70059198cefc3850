//go:build !nordma

package rdma

import (
	"thundercollective/internal/provider/rdma/internal/hca"
	"thundercollective/internal/provider/rdma/verbs"
)

// systemHost loads the system's RDMA library. On Linux a program that can do so
// needs the C library's dynamic linker at its start.
func systemHost() (hca.Host, error) {
	h, err := verbs.NewHost()
	if err != nil {
		return nil, err
	}
	return h, nil
}
