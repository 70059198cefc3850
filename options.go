package thunder

import (
	"log/slog"
	"os"
	"time"

	"thundercollective/internal/rendezvous"
)

// DefaultTimeout is how long an operation may take, unless the options say otherwise. It is
// long because ranks may be busy elsewhere; a rank that dies is noticed at once.
const DefaultTimeout = 5 * time.Minute

// DefaultHeartbeatTimeout is how long it takes to notice that a rank has vanished, unless
// the options say otherwise. LocalHeartbeatTimeout replaces it where all ranks are on this
// machine: no cable can be cut there, a process that dies is noticed at once in any case, and
// ranks that outnumber the processors may not run for seconds.
const (
	DefaultHeartbeatTimeout = 2 * time.Second
	LocalHeartbeatTimeout   = 15 * time.Second
)

// Options say who this process is, how it reaches the other ranks, and how operations are
// carried out. The zero value takes everything from the environment and from defaults; what
// is set here wins over the environment. 'thunder env' lists the variables.
type Options struct {
	Join        Join        // who this rank is, and how it meets the others
	Security    Security    // who may take part
	Transport   Transport   // what carries messages
	Tuning      Tuning      // how operations are carried out
	Diagnostics Diagnostics // what can be seen of the job

	// Timeout bounds every operation; DefaultTimeout if 0.
	Timeout time.Duration
	// HeartbeatTimeout is how long it takes to notice that a rank's machine or cable is gone,
	// or that its process is stopped; DefaultHeartbeatTimeout, or LocalHeartbeatTimeout on one
	// machine, if 0. A process that ends is noticed at once. All ranks should use the same.
	HeartbeatTimeout time.Duration
}

// Join says who this rank is and how it meets the others: by Addrs, at a Coordinator, or by
// a Hostfile. Without any of them, a launcher says so, or the rank is alone.
type Join struct {
	// Rank and Size are this process's place among the ranks. They count if Size is not 0.
	Rank, Size int

	// Addrs lists an address (host:port) per rank; several addresses of a rank, one per
	// rail, are separated by commas.
	Addrs []string
	// Coordinator is the address (host:port) where ranks meet that do not know each other's
	// addresses. Rank 0 serves it.
	Coordinator string
	// Hostfile names a file with the addresses of all ranks.
	Hostfile string

	// Edges says which ranks are joined by cables, as in "0-1,1-2@10" with rates in Gb/s:
	// messages between others are relayed, and collectives follow the cables. If it is
	// empty, the hostfile says so, or all are joined. "halo1/0-1.3=halo2/0-3.1" is a cable
	// that carries USB4 streams, used beside the addresses; such cables alone do not mean
	// that other ranks are not joined.
	Edges string

	// StartTimeout is how far apart the ranks may start; a minute if 0.
	StartTimeout time.Duration
}

// Security says who may take part in the job.
type Security struct {
	// Token is the job's secret. Ranks that listen beyond loopback need one.
	Token []byte
	// Insecure lets ranks listen beyond loopback without a token.
	Insecure bool
}

// Transport says what carries messages.
type Transport struct {
	// Fabric is "tcp"; "rdma"; "shm", shared memory, for ranks that are all on one machine;
	// or "auto", the default: shared memory between ranks of the same machine, RDMA between
	// those that have it, and TCP between the others. All ranks need the same.
	Fabric string
	// Streams is the number of TCP connections to each peer; if 0, the profile's, or what
	// suits the processors of this machine.
	Streams int
	// Checksum sends a checksum of its payload with every message over TCP, so that damaged
	// bytes end in an error, never in a wrong result. It is off by default because TCP and
	// Ethernet check payloads, too; headers are always protected. All ranks need the same.
	Checksum bool

	// RDMADevices are the RDMA devices to use to every peer, one per rail. Without them, the
	// hostfile's are used, or those that work.
	RDMADevices []string
	// RDMAGID is the index of the RDMA devices' address; if 0, one is chosen.
	RDMAGID int

	// NoPeerReads keeps ranks of the same machine from reading this rank's memory, except
	// what Comm.Alloc returned. It makes long operations slower.
	NoPeerReads bool
	// NoHugePages leaves long buffers in the pages that they are in. By default, ranks ask
	// the kernel for huge pages under buffers that they use repeatedly, and Comm.Alloc asks
	// for them over TCP, unless the system has them switched off.
	NoHugePages bool
}

// Tuning says how operations are carried out. Results may differ in the last bits with it,
// because another order of additions rounds differently.
type Tuning struct {
	// Algo is the algorithm of all operations that have it; Auto picks one by size.
	Algo Algo
	// Profile names a file of 'thunder tune' to choose algorithms, segments and streams by,
	// the same on all ranks.
	Profile string
	// Calibrate measures with the first operation what messages cost, in about 40 ms, and
	// chooses by that, if there is no profile. Without it, the choice follows rules of thumb,
	// which are the same in every run and hence give the same bits. All ranks need the same.
	Calibrate bool
	// Segment is the length in bytes of the segments in which long messages travel; if 0,
	// one that suits the costs of messages. All ranks need the same.
	Segment int
}

// Diagnostics say what can be seen of the job.
type Diagnostics struct {
	// DumpDir is a folder for the flight recorder, which is written when a group fails and at
	// SIGUSR1; see 'thunder inspect'. Nothing is written if it is "".
	DumpDir string
	// Metrics is where this rank serves metrics for Prometheus: host:port, or a port on
	// loopback; the ranks of a machine count up from there. Nowhere if "".
	Metrics string
	// Logger gets events beside the operations, such as a rail that is lost while others go
	// on. If nil, warnings are written to standard error, or what THUNDER_LOG says: off, warn,
	// info or debug.
	Logger *slog.Logger
}

// Validate returns an *OptionError if Init would refuse these options, or the THUNDER_
// variables beside them. It does not contact other ranks: a program that starts ranks can
// validate their options once before each of them fails.
func (o Options) Validate() error {
	o, _, err := o.fromProcess()
	if err != nil {
		return err
	}
	if err := o.checkFabric(); err != nil {
		return err
	}
	if _, err := rendezvous.FromEnv(os.Getenv); err != nil {
		return &OptionError{Err: err}
	}
	if _, err := o.profile(); err != nil {
		return err
	}
	_, err = o.metricsAt(0)
	return err
}
