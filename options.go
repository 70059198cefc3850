package thunder

import (
	"log/slog"
	"net/netip"
	"os"
	"time"

	"thundercollective/internal/env"
	"thundercollective/internal/metrics"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/rendezvous"
	"thundercollective/internal/telemetry"
	"thundercollective/internal/wiring"
)

// DefaultTimeout is how long an operation may take when nobody says otherwise. It
// is long because ranks may be busy elsewhere; a rank that dies is noticed at once.
const DefaultTimeout = 5 * time.Minute

// DefaultHeartbeatTimeout is how long it takes to notice that a rank has vanished, unless
// the options say otherwise. LocalHeartbeatTimeout replaces it where all ranks are on this
// machine: no cable can be cut there, a process that dies is noticed at once in any case, and
// ranks that outnumber the processors may not run for seconds.
const (
	DefaultHeartbeatTimeout = 2 * time.Second
	LocalHeartbeatTimeout   = 15 * time.Second
)

// minHeartbeatTimeout keeps heartbeats further apart than a busy machine delays them.
const minHeartbeatTimeout = 100 * time.Millisecond

// minSegment is the shortest segment: one that is hardly longer than its header is a
// mistake, and fills memory with plans.
const minSegment = 1 << 10

// Options say who this process is and how it reaches the others. The zero value
// takes everything from the environment; what is set here wins over it.
type Options struct {
	// Rank and Size are this process's place among the ranks. They count when
	// Size is not 0.
	Rank, Size int

	// Addrs lists an address (host:port) per rank; several addresses of a rank
	// are separated by commas.
	Addrs []string
	// Coordinator is where ranks meet that do not know each other's addresses
	// (host:port). Rank 0 serves it.
	Coordinator string
	// Hostfile names a file with the addresses of all ranks.
	Hostfile string

	// Edges says which ranks are joined by cables, as in "0-1,1-2@10" (package
	// rendezvous, ParseEdges): what goes between others is relayed, and
	// collectives follow the cables. Empty: the hostfile's, else all are joined.
	// "halo1/0-1.3=halo2/0-3.1" is a cable that carries USB4 streams, used beside the
	// addresses; such cables alone do not say that others are not joined.
	Edges string

	// Token is the job's secret. Ranks that listen beyond loopback need one,
	// unless Insecure.
	Token    []byte
	Insecure bool

	// Fabric carries the messages: "tcp"; "rdma"; "shm", shared memory, for ranks
	// that are all on one machine; or "auto", the default: shared memory between
	// ranks of the same machine, RDMA between those that have it, and TCP between
	// the others. All ranks have to say the same.
	Fabric string
	// Devices are the RDMA devices to use to every peer, one per rail. Without
	// them the hostfile says, or those are used that work.
	Devices []string
	// GIDIndex overrides the choice of the RDMA devices' addresses.
	GIDIndex int
	// Streams is the number of TCP connections to each peer; 0 for what the profile
	// says, else for one that suits the processors of this machine.
	Streams int
	// Checksum has every message over TCP carry a checksum of its payload, so that
	// bytes damaged on the way end in an error, never in a wrong result. The network
	// checks them too (TCP, Ethernet), which is why it is off by default; headers are
	// always protected. All ranks have to say the same.
	Checksum bool
	// NoPeerReads keeps ranks of the same machine from reading this rank's memory, except
	// what Comm.Alloc returned. It makes long operations slower.
	NoPeerReads bool
	// NoHugePages leaves long buffers in the pages that they are in. By default, ranks ask
	// the kernel for huge pages under buffers that they use repeatedly, and Comm.Alloc asks
	// for them over TCP, unless the system has them switched off.
	NoHugePages bool
	// Algo is the algorithm of all operations that have it; Auto picks by size.
	Algo Algo
	// Profile names a file of 'thunder tune' to choose algorithms, segments and
	// streams by, the same on all ranks.
	Profile string
	// Calibrate has the first operation measure what messages cost, in some 40 ms,
	// and the group choose by that, if there is no profile. Without, the choice
	// follows rules of thumb, which are the same in every run and hence give the same
	// bits. All ranks have to say the same.
	Calibrate bool
	// Segment is the length in bytes of the pieces in which messages travel; 0 for
	// what suits the costs of messages. All ranks have to say the same.
	Segment int
	// Timeout bounds every operation; DefaultTimeout if 0.
	Timeout time.Duration
	// HeartbeatTimeout is how long it takes to notice that a rank's machine or cable is gone,
	// or that its process is stopped; DefaultHeartbeatTimeout, or LocalHeartbeatTimeout on one
	// machine, if 0. A process that ends is noticed at once. All ranks should use the same.
	HeartbeatTimeout time.Duration
	// StartTimeout is how far apart the ranks may start; a minute if 0.
	StartTimeout time.Duration
	// DumpDir is a folder for the flight recorder, written when a group fails and at
	// SIGUSR1; see thunder inspect. Nothing is written if it is "".
	DumpDir string
	// Metrics is where this rank serves metrics for Prometheus: host:port, or a port
	// on loopback; the ranks of a machine count up from there. Nowhere if "".
	Metrics string
	// Logger is told what happens beside the operations, such as a rail that is lost
	// while others go on. If nil, warnings are written to standard error; THUNDER_LOG
	// says otherwise: off, info or debug.
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

// checkFabric checks the name of the fabric that Init is to use; Local has one of its own.
func (o Options) checkFabric() error {
	switch o.Fabric {
	case "", "auto", "tcp", "rdma", "shm":
		return nil
	}
	return badOption("there is no fabric %q here; choose auto, tcp, rdma or shm", o.Fabric)
}

// fromProcess completes the options from the environment of this process. It refuses
// variables that are misspelt, and returns the names of others that it does not know.
func (o Options) fromProcess() (Options, []string, error) {
	strangers, err := env.Names(os.Environ())
	if err != nil {
		return o, nil, &OptionError{Err: err}
	}
	o, err = o.complete(os.Getenv)
	return o, strangers, err
}

// complete fills in what is left from the environment and the defaults.
func (o Options) complete(getenv func(string) string) (Options, error) {
	r := &env.Reader{Getenv: getenv}
	unset(&o.Fabric, r.Choice, env.Fabric)
	unset(&o.GIDIndex, r.Int, env.RDMAGID)
	if len(o.Devices) == 0 {
		o.Devices = r.List(env.RDMADevices)
	}
	unset(&o.Checksum, r.Bool, env.Checksum)
	unset(&o.NoPeerReads, r.Bool, env.NoPeerReads)
	unset(&o.NoHugePages, r.Bool, env.NoHugePages)
	unset(&o.Profile, r.Text, env.Profile)
	unset(&o.Calibrate, r.Bool, env.Calibrate)
	unset(&o.Segment, r.Int, env.Segment)
	unset(&o.DumpDir, r.Text, env.DumpDir)
	unset(&o.Metrics, r.Text, env.Metrics)
	unset(&o.Timeout, r.Duration, env.Timeout)
	unset(&o.HeartbeatTimeout, r.Duration, env.HeartbeatTimeout)
	if o.Logger == nil {
		o.Logger = newLogger(os.Stderr, r)
	}
	// These are read where they are used; what is wrong with them is said here.
	r.Bool(env.ShmPortable)
	r.Bool(env.Bound)
	r.Choice(env.Kernels)
	if err := r.Err(); err != nil {
		return o, &OptionError{Err: err}
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	return o, o.check()
}

// unset reads a variable where the option is not set.
func unset[T comparable](option *T, read func(string) T, name string) {
	if *option == *new(T) {
		*option = read(name)
	}
}

// check checks what can be checked of each option by itself.
func (o Options) check() error {
	switch {
	case o.HeartbeatTimeout != 0 && o.HeartbeatTimeout < minHeartbeatTimeout:
		return badOption("a rank cannot be taken for dead after %v; allow at least %v", o.HeartbeatTimeout, minHeartbeatTimeout)
	case o.Timeout < 0 || o.StartTimeout < 0:
		return badOption("a timeout is negative; give a duration such as 90s or 5m")
	case o.Streams < 0 || o.Streams > tcp.MaxStreams:
		return badOption("%d streams to each peer: choose 1 to %d", o.Streams, tcp.MaxStreams)
	case o.Segment != 0 && o.Segment < minSegment:
		return badOption("segments of %d bytes; give %d or more", o.Segment, minSegment)
	}
	return telemetry.CheckDir(o.DumpDir)
}

// profile reads the profile that the options name; nil for none.
func (o Options) profile() (*Profile, error) {
	if o.Profile == "" {
		return nil, nil
	}
	return ReadProfile(o.Profile)
}

// wiring is what the options say about the fabric.
func (o Options) wiring(cfg rendezvous.Config) wiring.Config {
	return wiring.Config{
		Fabric: o.Fabric, Token: cfg.Token, Hostfile: cfg.Hostfile, Devices: o.Devices, GIDIndex: o.GIDIndex,
		Streams: o.Streams, Checksum: o.Checksum, NoPeerReads: o.NoPeerReads, NoHugePages: o.NoHugePages, Profile: o.Profile != "", Calibrate: o.Calibrate,
		Logger: o.Logger,
	}
}

// metricsAt is where a rank that is the local-th of its machine serves metrics.
func (o Options) metricsAt(local int) (string, error) {
	if o.Metrics == "" {
		return "", nil
	}
	at, err := metrics.Addr(o.Metrics, local)
	if err != nil {
		return "", badOption("THUNDER_METRICS: %w", err)
	}
	return at, nil
}

// silenceAmong is how long these ranks may be silent.
func (o Options) silenceAmong(peers []rendezvous.Peer) time.Duration {
	if o.HeartbeatTimeout != 0 {
		return o.HeartbeatTimeout
	}
	for _, p := range peers {
		for _, addr := range p.Addrs {
			if at, err := netip.ParseAddrPort(addr); err != nil || !at.Addr().IsLoopback() {
				return DefaultHeartbeatTimeout
			}
		}
	}
	return LocalHeartbeatTimeout
}

// place is what the options say about finding the peers.
func (o Options) place() rendezvous.Config {
	c := rendezvous.Config{
		Rank: rendezvous.NoRank, Addrs: o.Addrs, Coordinator: o.Coordinator, Hostfile: o.Hostfile, Edges: o.Edges,
		Token: o.Token, Insecure: o.Insecure, StartTimeout: o.StartTimeout,
	}
	if o.Size != 0 {
		c.Rank, c.Size = o.Rank, o.Size
	}
	return c
}

// hostname names this machine in messages.
func hostname() string {
	h, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return h
}
