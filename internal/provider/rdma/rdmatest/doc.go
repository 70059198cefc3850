// Package rdmatest emulates RDMA devices in this process, so that provider/rdma is
// tested in milliseconds, everywhere, and with the race detector.
//
// A Network joins the Hosts of a test; each host has one or more devices. RoCE
// describes devices with reliable queue pairs, as network cards and soft-RoCE
// have them. Thunderbolt describes those of RDMA over Thunderbolt, with every
// limit that is known of them: unreliable queue pairs only, SEND only, queues
// whose depth counts frames of 4 KiB, a SEND that has to cover as many frames as
// the RECV it meets, few queue pairs and memory regions, page-aligned memory, one
// piece of memory per request, and messages that vanish when no receive is
// posted. Every limit is a field and can be changed one by one.
//
// The emulation is strict: what a real device would punish by losing or
// corrupting data is carried out the same way and also noted, and Faults tells a
// test what was noted. It runs each queue pair in a goroutine of its own, so that
// queue pairs overtake each other, as they do in hardware.
package rdmatest
