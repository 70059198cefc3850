//go:build !amd64 && !arm64

package reduce

// fastTables lists the implementations this CPU can run besides base.
func fastTables(base *table) []*table { return nil }
