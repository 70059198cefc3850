package hca

import (
	"errors"
	"fmt"
	"net/netip"
)

// ErrNoChannel is returned by NewChannel of a device that has no completion
// events; its queues have to be polled.
var ErrNoChannel = errors.New("the device has no completion events")

// A Host is the RDMA side of one machine.
type Host interface {
	// Devices lists the names of the devices.
	Devices() ([]string, error)
	Open(name string) (Device, error)
	// Map returns page-aligned memory, zeroed, at an address that never
	// changes; only such memory may be registered. Unmap gives it back.
	Map(n int) ([]byte, error)
	Unmap(mem []byte) error
}

// A Device is an open device.
type Device interface {
	Name() string
	Limits() Limits
	Port(num int) (Port, error)
	// GIDs lists the addresses of a port that are set.
	GIDs(port int) ([]GID, error)
	NewPD() (PD, error)
	NewChannel() (Channel, error)
	// NewCQ makes a completion queue. With a channel (which may be nil), Arm
	// makes the next completion an event there.
	NewCQ(depth int, ch Channel) (CQ, error)
	Close() error
}

// Limits says what a device can do.
type Limits struct {
	RC         bool // reliable connected queue pairs; UC if not
	MaxQP      int
	MaxQPWR    int // entries of a send or receive queue
	MaxSGE     int // pieces of memory of one work request
	MaxCQE     int
	MaxMR      int
	MaxMRSize  int64
	MaxMessage int64
	// FrameSize is not 0 where a queue's depth counts frames of this size
	// rather than work requests, and where a SEND and the RECV it meets must
	// cover the same number of frames.
	FrameSize int
	// HopLimit goes into the address of a queue pair.
	HopLimit uint8
}

// Frames is the number of queue entries that a message of n bytes takes.
func (l Limits) Frames(n int) int {
	if l.FrameSize == 0 {
		return 1
	}
	return max(1, (n+l.FrameSize-1)/l.FrameSize)
}

// A LinkLayer is the kind of network behind a port.
type LinkLayer uint8

// The link layers.
const (
	Ethernet   LinkLayer = 2
	InfiniBand LinkLayer = 1
)

// Port is the state of a port.
type Port struct {
	Active    bool
	State     string // the verbs' word for it
	MTU       int    // bytes: 256 to 4096
	LID       uint16
	LinkLayer LinkLayer
}

// A GID is one address of a port.
type GID struct {
	Index int
	Addr  [16]byte
	// RoCEv1 is set when the entry is known to be for the old, unrouted
	// encapsulation.
	RoCEv1 bool
}

// IPv4Mapped reports whether the address stands for an IPv4 address.
func (g GID) IPv4Mapped() bool { return netip.AddrFrom16(g.Addr).Is4In6() }

func (g GID) String() string { return netip.AddrFrom16(g.Addr).String() }

// PD is a protection domain.
type PD interface {
	// Register makes memory of Host.Map known to the device, readable and
	// writable by both ends.
	Register(mem []byte) (MR, error)
	NewQP(QPConfig) (QP, error)
	Close() error
}

// MR is registered memory.
type MR interface {
	LKey() uint32
	RKey() uint32
	Close() error
}

// A Channel delivers completion events.
type Channel interface {
	// Wait blocks until an armed queue of the channel has a completion. It
	// returns an error once Stop was called.
	Wait() error
	// Stop ends the waiting, for good.
	Stop()
	// Close comes after Stop, and after Close of the channel's queues.
	Close() error
}

// CQ is a completion queue.
type CQ interface {
	// Poll takes finished work requests off the queue, without blocking.
	Poll(wc []WC) (int, error)
	// Arm asks for one event at the next completion. What completed before
	// raises none: poll once more after it.
	Arm() error
	Close() error
}

// QPConfig describes a queue pair to be made.
type QPConfig struct {
	RC             bool
	CQ             CQ
	SendWR, RecvWR int // in the unit of Limits.FrameSize
	MaxSGE         int
	Port           int
}

// Remote is the far end of a queue pair and the path to it.
type Remote struct {
	QPN, PSN uint32
	LID      uint16
	GID      [16]byte
	MTU      int // of the path
	// The near end of the path.
	Port     int
	GIDIndex int
	Global   bool // address by GID
	LocalPSN uint32
	HopLimit uint8
}

// QP is a queue pair.
type QP interface {
	Num() uint32
	// Connect takes the queue pair from its first state to the one where it
	// can send. Receives are posted after it.
	Connect(Remote) error
	PostSend(*SendWR) error
	PostRecv(id uint64, sge SGE) error
	// Fail moves the queue pair to the error state: what was posted completes
	// as flushed, and nothing touches its memory any more.
	Fail() error
	Close() error
}

// An Op is what a send request does.
type Op uint8

// The operations, as work requests and in completions.
const (
	Send Op = iota
	Write
	WriteImm
	Recv
	RecvImm // receive consumed by a WriteImm; its memory is untouched
)

// An SGE is a piece of registered memory.
type SGE struct {
	Addr uint64
	Len  uint32
	LKey uint32
}

// A SendWR is a work request for the send queue.
type SendWR struct {
	ID   uint64
	Op   Op
	SGE  [2]SGE
	NSGE int
	Imm  uint32
	// Of writes.
	RemoteAddr uint64
	RKey       uint32
}

// A WC is a completion.
type WC struct {
	ID     uint64
	Status Status
	Op     Op // of receives only: Recv or RecvImm; in others undefined
	Len    uint32
	Imm    uint32
}

// A Status says how a work request ended; 0 is success. The numbers are those of
// the verbs.
type Status uint32

// The statuses that the provider tells apart.
const (
	Success       Status = 0
	LocalLength   Status = 1
	LocalProt     Status = 4
	Flushed       Status = 5
	RetryExceeded Status = 12
	RNRExceeded   Status = 13
)

var statusText = [...]string{
	0: "success", 1: "local length error", 2: "local QP operation error", 3: "local EE context error",
	4: "local protection error", 5: "flushed: the queue pair had failed", 6: "memory window bind error",
	7: "bad response", 8: "local access error", 9: "the peer refused the request as invalid",
	10: "the peer refused access to its memory", 11: "the peer could not complete the request",
	12: "the peer does not answer (transport retries exceeded)", 13: "the peer has no receive posted (RNR retries exceeded)",
}

func (s Status) String() string {
	if int(s) < len(statusText) {
		return statusText[s]
	}
	return fmt.Sprintf("status %d", uint32(s))
}
