// Package hca is what provider/rdma needs of an RDMA device: the few verbs that
// move tagged messages, as Go interfaces. Two things stand behind it: package
// verbs, which calls the system's library, and package rdmatest, which emulates
// a device in this process with the limits of real ones.
//
// The interfaces keep the verbs' own rules. Completions on a CQ are in the order
// in which the work requests of each queue were posted. A buffer belongs to the
// device from the post until its completion is polled. Calls on one QP, and on
// one CQ, are made by one goroutine at a time; different objects may be used at
// once.
package hca
