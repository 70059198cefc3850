package thunder

import (
	"os"
	"runtime"
	"time"

	"thundercollective/fabric"
	"thundercollective/internal/provider/shm"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/rendezvous"
)

// openFabric opens the fabric that the options name, on the listener. All ranks must
// name the same one; differs is called for those that are refused because they do not.
func openFabric(ln *tcp.Listener, w *wiring, roster *rendezvous.Roster, cfg rendezvous.Config, o Options, differs func(rank int, err error)) (fabric.Fabric, error) {
	onRDMA := o.Fabric == "rdma" || o.isAuto() && neighbours(roster) < roster.Size()
	onShm := o.Fabric == "shm" || o.isAuto() && neighbours(roster) > 1
	near := func(peer int) bool { return isNear(roster, peer) }
	tc := tcp.Config{
		Rank: roster.Rank, Generation: roster.Generation, Token: cfg.Token,
		Checksum: o.Checksum, Streams: o.Streams, Spin: spinTime, Crowded: crowded(roster), Logger: o.Logger,
		OnDiffer: differs, Settings: settingsWith(roster, o, onShm, onRDMA), SettingsDiffer: settingsDiffer,
	}
	var hosts []string
	for _, p := range roster.Peers {
		tc.Peers, hosts = append(tc.Peers, p.Addrs), append(hosts, p.Host)
	}
	t, err := w.open(ln, tc, streamsFor(roster, o), hosts)
	if err != nil {
		return nil, err
	}
	boot := t
	if onRDMA {
		if boot, err = openRDMA(t, roster, cfg, o); err != nil {
			t.Close()
			return nil, err
		}
	}
	if !onShm {
		return boot, nil
	}
	s, err := shm.New(shm.Config{
		Bootstrap: boot, Spin: tc.Spin, Crowded: tc.Crowded, Logger: o.Logger, Require: o.Fabric == "shm",
		Private: o.Private, Portable: os.Getenv("THUNDER_SHM_PORTABLE") == "1", Near: near,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// isNear says whether a rank is on this machine.
func isNear(roster *rendezvous.Roster, rank int) bool {
	return roster.Peers[rank].Host == roster.Peers[roster.Rank].Host
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

// streamsFor says how many connections to open to each peer: as many as the options
// say; otherwise the usual number, but one where a rank has no processors to spare
// for the goroutines of more.
func streamsFor(roster *rendezvous.Roster, o Options) int {
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

// crowded says whether more ranks than processors share this machine. A launcher
// that gave each rank processors of its own says so: then we see only those.
func crowded(roster *rendezvous.Roster) bool {
	return neighbours(roster) > runtime.NumCPU() && os.Getenv("THUNDER_BOUND") != "1"
}
