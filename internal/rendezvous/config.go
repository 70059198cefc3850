package rendezvous

import (
	"fmt"
	"log/slog"
	"time"

	"thundercollective/internal/env"
)

// DefaultStartTimeout is how far apart ranks may start by default.
const DefaultStartTimeout = 60 * time.Second

// NoRank is the Rank of a Config that does not set it.
const NoRank = -1

// A Config holds what the user set in flags, fields or the environment. A zero field
// is not set; only Rank, for which 0 is a value, uses NoRank for that.
type Config struct {
	Rank int
	Size int

	// How to find the other ranks: one of the three.
	Addrs       []string // explicit: an entry per rank, its rails separated by commas
	Coordinator string   // host:port; rank 0 serves it, unless Served
	Hostfile    string   // a path, or the JSON itself

	// Edges lists the cables between ranks (see ParseEdges). If empty, those of the
	// hostfile count; if there are none either, every rank reaches every other.
	Edges string

	// Ports are for listeners that may have any port; zero for no limit.
	Ports env.PortRange

	// Served means that somebody else, such as a launcher, serves Coordinator.
	Served bool

	Token        []byte
	Insecure     bool          // listen beyond loopback even without a token
	StartTimeout time.Duration // how far apart ranks may start
	Generation   uint32        // how many times the job was restarted

	// OnRetry, if set, is called with the reason why the coordinator could not be reached,
	// before another attempt.
	OnRetry func(error)

	// Logger gets a line for each rank that the coordinator refuses, if this rank
	// serves it, and tells which ports are used. Nothing is logged if nil.
	Logger *slog.Logger
}

// A Way is how a rank finds its peers.
type Way int

// The ways to find peers.
const (
	Alone        Way = iota // a job of one rank
	Explicit                // Config lists all addresses
	Coordinated             // ranks register at the coordinator
	FromHostfile            // a hostfile lists all addresses
)

func (w Way) String() string {
	switch w {
	case Alone:
		return "alone"
	case Explicit:
		return "explicit"
	case Coordinated:
		return "coordinated"
	case FromHostfile:
		return "hostfile"
	}
	return fmt.Sprintf("way %d", int(w))
}

// Way returns how c finds the peers. A Config with Coordinator and Addrs is
// coordinated: the one entry of Addrs is where this rank listens.
func (c Config) Way() Way {
	switch {
	case c.Hostfile != "":
		return FromHostfile
	case c.Coordinator != "":
		return Coordinated
	case len(c.Addrs) > 0:
		return Explicit
	}
	return Alone
}

// Merge returns c with the fields that over sets replaced by those of over. The fields
// that tell how to find peers are replaced together: if over sets one of them, none of
// c's is kept. Rank and size may still come from c.
func (c Config) Merge(over Config) Config {
	if over.Way() != Alone {
		c.Addrs, c.Coordinator, c.Served, c.Hostfile = over.Addrs, over.Coordinator, over.Served, over.Hostfile
	}
	if over.Rank != NoRank {
		c.Rank = over.Rank
	}
	if over.Size != 0 {
		c.Size = over.Size
	}
	if over.Ports.First != 0 {
		c.Ports = over.Ports
	}
	if over.Edges != "" {
		c.Edges = over.Edges
	}
	if len(over.Token) > 0 {
		c.Token = over.Token
	}
	if over.StartTimeout != 0 {
		c.StartTimeout = over.StartTimeout
	}
	if over.Generation != 0 {
		c.Generation = over.Generation
	}
	c.Insecure = c.Insecure || over.Insecure
	return c
}

// A ConfigError reports which flag or variable is wrong, and how to correct it.
type ConfigError struct {
	Field  string // as the user knows it: "--rank (THUNDER_RANK)"
	Reason string
	Err    error // the error of reading the file that it names, if any
}

func (e *ConfigError) Error() string { return e.Field + ": " + e.Reason }
func (e *ConfigError) Unwrap() error { return e.Err }

// The names that users know the fields of a Config by.
const (
	fieldRank        = "--rank (THUNDER_RANK)"
	fieldSize        = "--world-size (THUNDER_WORLD_SIZE)"
	fieldAddr        = "--addr"
	fieldCoordinator = "--coordinator (THUNDER_COORDINATOR)"
	fieldHostfile    = "--hostfile (THUNDER_HOSTFILE)"
	fieldTimeout     = "--start-timeout (THUNDER_START_TIMEOUT)"
)

func badConfig(field, format string, args ...any) error {
	return &ConfigError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Validate checks what can be checked without reading files or using the network.
func (c Config) Validate() error {
	if c.StartTimeout < 0 {
		return badConfig(fieldTimeout, "%v is negative; give a duration such as 90s", c.StartTimeout)
	}
	if c.Size < 0 || c.Size > MaxSize {
		return badConfig(fieldSize, "%d is out of range; a job has 1..%d ranks", c.Size, MaxSize)
	}
	if c.Rank < NoRank {
		return badConfig(fieldRank, "%d is out of range; ranks count from 0", c.Rank)
	}
	if c.Edges != "" {
		if _, err := ParseEdges(c.Edges); err != nil {
			return err
		}
	}
	switch c.Way() {
	case Alone:
		return c.validateAlone()
	case Explicit:
		return c.validateExplicit()
	case Coordinated:
		return c.validateCoordinated()
	}
	return c.validateHostfile()
}

func (c Config) validateAlone() error {
	const ways = "set how to find the others: --coordinator (THUNDER_COORDINATOR), --addr once per rank, " +
		"or --hostfile (THUNDER_HOSTFILE)"
	switch {
	case c.Size > 1 && c.Rank == NoRank:
		return badConfig(fieldSize, "%d ranks, but no way to find each other; %s; and which one this is: %s", c.Size, ways, fieldRank)
	case c.Size > 1:
		return badConfig(fieldSize, "%d ranks, but no way to find each other; %s", c.Size, ways)
	case c.Rank > 0:
		return badConfig(fieldRank, "rank %d cannot be alone; %s", c.Rank, ways)
	}
	return nil
}

// CheckComplete returns an error if c has a rank, but neither the number of ranks nor a
// way to find them: somebody forgot the rest.
func (c Config) CheckComplete() error {
	if c.Way() != Alone || c.Rank == NoRank || c.Size != 0 {
		return nil
	}
	return badConfig(fieldRank, "%d is set, but %s is missing, and so is a way to find the others: %s, or %s; set them, or unset it to run alone",
		c.Rank, fieldSize, fieldCoordinator, fieldHostfile)
}

func (c Config) validateExplicit() error {
	size := len(c.Addrs)
	if size > MaxSize {
		return badConfig(fieldAddr, "given %d times; a job has 1..%d ranks", size, MaxSize)
	}
	if c.Size != 0 && c.Size != size {
		return badConfig(fieldAddr, "given %d times for %d ranks; give it once per rank, "+
			"with commas between several addresses of one rank", size, c.Size)
	}
	if err := checkRank(c.Rank, size, fieldAddr); err != nil {
		return err
	}
	_, err := explicitPeers(c.Rank, c.Addrs)
	return err
}

func (c Config) validateCoordinated() error {
	if _, err := dialable(c.Coordinator); err != nil {
		return badConfig(fieldCoordinator, "%q %v", c.Coordinator, err)
	}
	if c.Size == 0 {
		return badConfig(fieldSize, "is missing; with a coordinator every rank must know the number of ranks")
	}
	if err := checkRank(c.Rank, c.Size, fieldSize); err != nil {
		return err
	}
	if len(c.Addrs) > 1 {
		return badConfig(fieldAddr, "given %d times together with %s; then it can be given once, for the address where this rank listens",
			len(c.Addrs), fieldCoordinator)
	}
	for _, addr := range c.listenAddrs() {
		e, err := parseEndpoint(addr)
		if err == nil && e.port == noPort {
			err = fmt.Errorf("has no port; write host:port, with port 0 for any")
		}
		if err == nil && c.Rank == 0 && !c.Served && addr == c.Coordinator {
			err = fmt.Errorf("is where this rank serves %s; choose another port", fieldCoordinator)
		}
		if err != nil {
			return &AddrError{Rank: c.Rank, Addr: addr, Reason: err.Error()}
		}
	}
	return nil
}

func (c Config) validateHostfile() error {
	if c.Coordinator != "" {
		return badConfig(fieldHostfile, "given together with %s; give one of them", fieldCoordinator)
	}
	if len(c.Addrs) > 0 {
		return badConfig(fieldHostfile, "given together with %s; give one of them", fieldAddr)
	}
	size := c.Size
	if size == 0 {
		size = MaxSize
	}
	return checkRank(c.Rank, size, fieldSize)
}

// checkRank checks rank against a size, which came from the field from.
func checkRank(rank, size int, from string) error {
	if rank == NoRank {
		return badConfig(fieldRank, "is missing; each process of the job needs its own, from 0")
	}
	if rank >= size {
		return badConfig(fieldRank, "%d is out of range; %s allows 0..%d", rank, from, size-1)
	}
	return nil
}

// listenAddrs returns the addresses where a coordinated rank must listen, if given.
func (c Config) listenAddrs() []string {
	if len(c.Addrs) == 0 {
		return nil
	}
	return splitRails(c.Addrs[0])
}

func (c Config) startTimeout() time.Duration {
	if c.StartTimeout == 0 {
		return DefaultStartTimeout
	}
	return c.StartTimeout
}
