// Package traffic counts what crosses a link.
package traffic

import (
	"sync/atomic"

	"thundercollective/fabric"
)

// A Counter counts messages and payload bytes. It is safe for concurrent use; the
// zero value is ready.
type Counter struct {
	sentMessages, sentBytes, recvMessages, recvBytes atomic.Uint64
}

// Sent counts a message of n bytes that was sent.
func (c *Counter) Sent(n int) {
	c.sentMessages.Add(1)
	c.sentBytes.Add(uint64(n))
}

// Received counts a message of n bytes that was received.
func (c *Counter) Received(n int) {
	c.recvMessages.Add(1)
	c.recvBytes.Add(uint64(n))
}

// Read returns the counts.
func (c *Counter) Read() fabric.Traffic {
	return fabric.Traffic{
		SentMessages: c.sentMessages.Load(), SentBytes: c.sentBytes.Load(),
		RecvMessages: c.recvMessages.Load(), RecvBytes: c.recvBytes.Load(),
	}
}
