//go:build nordma

package rdma

import (
	"errors"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// systemHost has nothing to load: a build with the tag nordma is one static file
// also on Linux.
func systemHost() (hca.Host, error) {
	return nil, errors.New("this program was built without RDMA (-tags nordma)")
}
