package thunder

import (
	"os"

	"thundercollective/fabric"
)

// Over returns ranks in this process on fabrics of the test's own.
func Over(fabrics []fabric.Fabric, o Options) ([]*Comm, error) {
	o, err := o.complete(os.Getenv)
	if err != nil {
		return nil, err
	}
	return over(fabrics, o)
}
