// Package wiring makes a fabric out of a roster: it works out how this rank reaches the
// others (over which rails, through which relays, by shared memory, RDMA or USB4
// streams) and stacks the providers that this takes.
package wiring
