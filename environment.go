package thunder

import (
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"thundercollective/internal/env"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/telemetry"
)

// minHeartbeatTimeout keeps heartbeats further apart than a busy machine delays them.
const minHeartbeatTimeout = 100 * time.Millisecond

// minSegment is the shortest segment: one that is hardly longer than its header is a
// mistake, and fills memory with plans.
const minSegment = 1 << 10

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

// complete fills in what is left from the environment and the defaults. What concerns Join
// and Security is read when the rank joins; see package rendezvous.
func (o Options) complete(getenv func(string) string) (Options, error) {
	r := &env.Reader{Getenv: getenv}
	transport, tuning, diagnostics := &o.Transport, &o.Tuning, &o.Diagnostics
	unset(&transport.Fabric, r.Choice, env.Fabric)
	unset(&transport.Checksum, r.Bool, env.Checksum)
	unset(&transport.RDMAGID, r.Int, env.RDMAGID)
	if len(transport.RDMADevices) == 0 {
		transport.RDMADevices = r.List(env.RDMADevices)
	}
	unset(&transport.NoPeerReads, r.Bool, env.NoPeerReads)
	unset(&transport.NoHugePages, r.Bool, env.NoHugePages)
	unset(&tuning.Profile, r.Text, env.Profile)
	unset(&tuning.Calibrate, r.Bool, env.Calibrate)
	unset(&tuning.Segment, r.Int, env.Segment)
	unset(&diagnostics.DumpDir, r.Text, env.DumpDir)
	unset(&diagnostics.Metrics, r.Text, env.Metrics)
	if diagnostics.Logger == nil {
		diagnostics.Logger = newLogger(os.Stderr, r)
	}
	unset(&o.Timeout, r.Duration, env.Timeout)
	unset(&o.HeartbeatTimeout, r.Duration, env.HeartbeatTimeout)
	// These are read where they are used, and checked here.
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

// checkFabric checks the name of the fabric that Init is to use; Local has one of its own.
func (o Options) checkFabric() error {
	switch o.Transport.Fabric {
	case "", "auto", "tcp", "rdma", "shm":
		return nil
	}
	return badOption("there is no fabric %q here; choose auto, tcp, rdma or shm", o.Transport.Fabric)
}

// check checks what can be checked of each option by itself.
func (o Options) check() error {
	switch {
	case o.HeartbeatTimeout != 0 && o.HeartbeatTimeout < minHeartbeatTimeout:
		return badOption("a rank cannot be taken for dead after %v; allow at least %v", o.HeartbeatTimeout, minHeartbeatTimeout)
	case o.Timeout < 0 || o.Join.StartTimeout < 0:
		return badOption("a timeout is negative; give a duration such as 90s or 5m")
	case o.Transport.Streams < 0 || o.Transport.Streams > tcp.MaxStreams:
		return badOption("%d streams to each peer: choose 1 to %d", o.Transport.Streams, tcp.MaxStreams)
	case o.Tuning.Segment != 0 && o.Tuning.Segment < minSegment:
		return badOption("segments of %d bytes; give %d or more", o.Tuning.Segment, minSegment)
	}
	return telemetry.CheckDir(o.Diagnostics.DumpDir)
}

// logLevels are the values of THUNDER_LOG beside off. An error that an operation returns is
// logged below warnings: its caller has it already.
var logLevels = map[string]slog.Level{
	"":      slog.LevelWarn,
	"warn":  slog.LevelWarn,
	"info":  slog.LevelInfo,
	"debug": slog.LevelDebug,
}

// newLogger returns the logger of a program that brings none. It writes to w what is at
// least as grave as THUNDER_LOG says; warnings by default.
func newLogger(w io.Writer, r *env.Reader) *slog.Logger {
	level := r.Choice(env.Log)
	if level == "off" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: logLevels[level]}))
}

// hinted are the variables that hint has mentioned in this process.
var hinted sync.Map

// hint mentions variables that have a new name, and those that look like ours but are not:
// once in a process, and by the first rank of a machine alone.
func hint(log *slog.Logger, strangers []string) {
	if (&env.Reader{}).Int(env.LocalRank) > 0 {
		return
	}
	once := func(name, text string) {
		if _, again := hinted.LoadOrStore(name, true); !again {
			log.Warn(name + text)
		}
	}
	for _, pair := range env.Renamed(os.Getenv) {
		once(pair[0], " is now called "+pair[1]+"; the old name still works")
	}
	for _, name := range strangers {
		once(name, " is no variable of thunder and has no effect; 'thunder env' lists those that there are")
	}
}
