package hca

import (
	"errors"
	"fmt"
	"net/netip"
)

// ErrNoChannel is returned by NewChannel of a device without completion events: its
// queues have to be polled.
var ErrNoChannel = errors.New("the device has no completion events")

// A Host is one machine's access to its RDMA devices.
type Host interface {
	// Devices lists the names of the devices.
	Devices() ([]string, error)
	Open(name string) (Device, error)
	// Map returns zeroed, page-aligned memory at an address that never changes;
	// only such memory may be registered. Unmap releases it.
	Map(n int) ([]byte, error)
	Unmap(mem []byte) error
}

// A Device is an open device.
type Device interface {
	Name() string
	Limits() Limits
	Port(num int) (Port, error)
	// GIDs lists the addresses of a port.
	GIDs(port int) ([]GID, error)
	NewPD() (PD, error)
	NewChannel() (Channel, error)
	// NewCQ makes a completion queue. If ch is not nil, Arm makes the next
	// completion an event there.
	NewCQ(depth int, ch Channel) (CQ, error)
	Close() error
}

// Limits tells what a device can do.
type Limits struct {
	RC         bool // reliable connected queue pairs; UC if not
	MaxQP      int
	MaxQPWR    int // entries of a send or receive queue
	MaxSGE     int // pieces of memory per work request
	MaxCQE     int
	MaxMR      int
	MaxMRSize  int64
	MaxMessage int64
	// FrameSize is not 0 if the depth of a queue counts frames of this size rather
	// than work requests, and a SEND and its RECV must cover the same number of
	// frames.
	FrameSize int
	// HopLimit is the hop limit for connections.
	HopLimit uint8
}

// Frames returns the number of queue entries that a message of n bytes takes.
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
	State     string // as the verbs name it
	MTU       int    // bytes: 256 to 4096
	LID       uint16
	LinkLayer LinkLayer
}

// A GID is one address of a port.
type GID struct {
	Index int
	Addr  [16]byte
	// RoCEv1 is set if the entry is known to be for RoCE v1, which is not routed.
	RoCEv1 bool
}

// IPv4Mapped reports whether the address is an IPv4-mapped one.
func (g GID) IPv4Mapped() bool { return netip.AddrFrom16(g.Addr).Is4In6() }

func (g GID) String() string { return netip.AddrFrom16(g.Addr).String() }

// PD is a protection domain.
type PD interface {
	// Register registers memory of Host.Map with the device. The device and the
	// peer may read and write it.
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
	// returns an error after Stop.
	Wait() error
	// Stop makes all calls of Wait return.
	Stop()
	// Close must be called after Stop, and after Close of the channel's queues.
	Close() error
}

// CQ is a completion queue.
type CQ interface {
	// Poll removes completions from the queue, without blocking.
	Poll(wc []WC) (int, error)
	// Arm requests one event at the next completion. Earlier completions raise
	// none: poll once more after it.
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
	// Connect moves the queue pair from its initial state to the one in which it
	// can send. Receives are posted after it.
	Connect(Remote) error
	PostSend(*SendWR) error
	PostRecv(id uint64, sge SGE) error
	// Fail moves the queue pair to the error state: what was posted completes as
	// Flushed, and its memory is not touched after that.
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
	RecvImm // receive consumed by a WriteImm; its memory is not written
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
	// For writes.
	RemoteAddr uint64
	RKey       uint32
}

// A WC is a completion.
type WC struct {
	ID     uint64
	Status Status
	Op     Op // Recv or RecvImm for receives; undefined for others
	Len    uint32
	Imm    uint32
}

// A Status tells how a work request ended; 0 is success. The numbers are those of the
// verbs.
type Status uint32

// The statuses that the provider uses.
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
