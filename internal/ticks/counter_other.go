//go:build !amd64

package ticks

import "time"

// counter is the system's clock, which is as quick here.
func counter() int64 { return int64(time.Since(start)) }
