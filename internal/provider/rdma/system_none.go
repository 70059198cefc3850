//go:build nordma

package rdma

import (
	"errors"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// systemHost returns an error: a build with the tag nordma is a static binary, on Linux
// too, and loads no library.
func systemHost() (hca.Host, error) {
	return nil, errors.New("this program was built without RDMA (-tags nordma)")
}
