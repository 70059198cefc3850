package wiring

import (
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/env"
	"thundercollective/internal/provider/shm"
	"thundercollective/internal/provider/stream"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/rendezvous"
)

// Config says which fabric to make.
type Config struct {
	Fabric      string // tcp, rdma, shm, or auto ("")
	Token       []byte
	Hostfile    string   // which may name RDMA devices; "" for none
	Devices     []string // RDMA devices; nil for what the hostfile or the launcher says
	GIDIndex    int      // of the RDMA devices; 0 for the best
	Streams     int      // TCP connections to each peer; 0 for what suits the machine
	Checksum    bool
	NoPeerReads bool
	NoHugePages bool
	Profile     bool // there is a profile: all ranks need one
	Calibrate   bool // the first operation measures: at all ranks
	Logger      *slog.Logger
	USB4        stream.System // where USB4 streams are; the machine's own if nil

	// Differs is called for ranks that are refused because their settings differ.
	Differs func(rank int, err error)
}

// Auto reports whether the fabric is the best that there is to each peer.
func (c *Config) Auto() bool { return c.Fabric == "" || c.Fabric == "auto" }

// Open makes the fabric of a rank, over the listener that the other ranks know. All
// ranks have to ask for the same fabric. If it fails, the listener is closed.
func Open(ln *tcp.Listener, roster *rendezvous.Roster, c Config) (*Wiring, error) {
	w, err := wire(roster, c)
	if err != nil {
		ln.Close()
		return nil, err
	}
	w.Streams = streamsFor(roster, c)
	if w.fabric, err = w.openFabric(ln, roster, c); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *Wiring) openFabric(ln *tcp.Listener, roster *rendezvous.Roster, o Config) (fabric.Fabric, error) {
	onRDMA := o.Fabric == "rdma" || o.Auto() && neighbours(roster) < roster.Size()
	onShm := o.Fabric == "shm" || o.Auto() && neighbours(roster) > 1
	near := func(peer int) bool { return isNear(roster, peer) }
	tc := tcp.Config{
		Rank: roster.Rank, Generation: roster.Generation, Token: o.Token,
		Checksum: o.Checksum, Streams: o.Streams, Spin: spinTime, Crowded: Crowded(roster), Logger: o.Logger,
		NoHugePages: o.NoHugePages, OnDiffer: o.Differs, Settings: settingsWith(roster, o, onShm, onRDMA), SettingsDiffer: settingsDiffer,
		Roster: roster.Lists(),
	}
	var hosts []string
	for _, p := range roster.Peers {
		tc.Peers, hosts = append(tc.Peers, p.Addrs), append(hosts, p.Host)
	}
	// Ranks that wait in shared memory or for RDMA do not move on what they posted on TCP.
	// Links for data are opened when all of the fabric is made.
	var stacked atomic.Bool
	stacked.Store(onShm)
	tc.Background = stacked.Load
	t, err := w.open(ln, tc, w.Streams, hosts)
	if err != nil {
		return nil, err
	}
	boot := t
	if onRDMA {
		if boot, err = openRDMA(t, roster, o); err != nil {
			t.Close()
			return nil, err
		}
		if boot.Name() != t.Name() { // otherwise there are no devices
			stacked.Store(true)
		}
	}
	if !onShm {
		return boot, nil
	}
	s, err := shm.New(shm.Config{
		Bootstrap: boot, Spin: tc.Spin, Crowded: tc.Crowded, Logger: o.Logger, Require: o.Fabric == "shm",
		Private: o.NoPeerReads, Portable: env.On(env.ShmPortable), Near: near,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// isNear reports whether a rank is on this machine.
func isNear(roster *rendezvous.Roster, rank int) bool {
	return roster.SameMachine(rank, roster.Rank)
}

// neighbours counts the ranks on this machine, this one included.
func neighbours(roster *rendezvous.Roster) int {
	here := 0
	for r := range roster.Peers {
		if isNear(roster, r) {
			here++
		}
	}
	return here
}

// streamsFor returns how many connections to open to each peer: what the options say, else
// the default, or one where a rank has no processors to spare for the goroutines of more.
func streamsFor(roster *rendezvous.Roster, o Config) int {
	switch {
	case o.Streams > 0:
		return o.Streams
	case runtime.NumCPU() < 2*neighbours(roster):
		return 1
	}
	return tcp.DefaultStreams
}

// spinTime is how long receivers poll before they park.
const spinTime = 50 * time.Microsecond

// Crowded reports whether more ranks than processors share this machine. A launcher
// that gave each rank processors of its own says so: then we see only those.
func Crowded(roster *rendezvous.Roster) bool {
	return neighbours(roster) > runtime.NumCPU() && !env.On(env.Bound)
}
