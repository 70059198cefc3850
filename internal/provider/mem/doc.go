// Package mem is the fabric of ranks that are goroutines of one process.
//
// Nothing is copied twice. A short message is copied into the queue of its wire, so that
// its sender goes on at once. A longer one is queued by reference: the receiver copies or
// reduces it straight out of the sender's buffer, and the sender gets the buffer back
// afterwards. Queues have no limit, so posting never waits, and no goroutine is needed.
//
// It is the quickest way to try the collectives, and the reference that the other
// providers are compared with.
package mem
