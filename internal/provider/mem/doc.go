// Package mem is the fabric of ranks that are goroutines of one process.
//
// Nothing is copied twice: a small message is copied into a slot of a bounded
// queue, so that its sender goes on at once; a larger one is handed over by
// reference and the receiver copies or reduces straight out of the sender's
// buffer, which its sender waits for. It is the quickest way to try the
// collectives, and the reference the other providers are compared with.
package mem
