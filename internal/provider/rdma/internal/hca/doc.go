// Package hca defines what package rdma needs of an RDMA device: the few verbs that move
// tagged messages, as Go interfaces. Two packages implement them: verbs calls the
// system's library, and rdmatest emulates devices in this process with the limits of
// real ones.
//
// The interfaces follow the rules of the verbs. Completions on a CQ are in the order in
// which the work requests of each queue were posted. A buffer belongs to the device from
// the post until its completion is polled. Calls on one QP, and on one CQ, are made by
// one goroutine at a time; different objects may be used concurrently.
package hca
