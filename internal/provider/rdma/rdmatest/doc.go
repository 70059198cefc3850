// Package rdmatest emulates RDMA devices in this process, so that package rdma can be
// tested in milliseconds, on any machine, and with the race detector.
//
// A Network connects the Hosts of a test; each host has one or more devices. RoCE
// describes devices with reliable queue pairs, such as network cards and soft-RoCE.
// Thunderbolt describes those of RDMA over Thunderbolt, with all their known limits:
// unreliable queue pairs only, SEND only, queues whose depth counts frames of 4 KiB, a
// SEND that must cover as many frames as its RECV, few queue pairs and memory regions,
// page-aligned memory, one piece of memory per request, and messages that are lost if no
// receive is posted. Every limit is a field that can be changed.
//
// The emulation is strict: where misuse makes a real device lose or corrupt data, the
// emulation does the same and also records it, and Faults returns what was recorded.
// Each queue pair runs in a goroutine of its own, so that queue pairs overtake each
// other, as they do in hardware.
package rdmatest
