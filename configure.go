package thunder

import (
	"net/netip"
	"os"
	"time"

	"thundercollective/internal/metrics"
	"thundercollective/internal/rendezvous"
	"thundercollective/internal/wiring"
)

// profile reads the profile that the options name; nil for none.
func (o Options) profile() (*Profile, error) {
	if o.Tuning.Profile == "" {
		return nil, nil
	}
	return ReadProfile(o.Tuning.Profile)
}

// wiring is what the options say about the fabric.
func (o Options) wiring(cfg rendezvous.Config) wiring.Config {
	t := o.Transport
	return wiring.Config{
		Fabric: t.Fabric, Token: cfg.Token, Hostfile: cfg.Hostfile, Devices: t.RDMADevices, GIDIndex: t.RDMAGID,
		Streams: t.Streams, Checksum: t.Checksum, NoPeerReads: t.NoPeerReads, Profile: o.Tuning.Profile != "", Calibrate: o.Tuning.Calibrate,
		Logger: o.Diagnostics.Logger,
	}
}

// metricsAt is where a rank that is the local-th of its machine serves metrics.
func (o Options) metricsAt(local int) (string, error) {
	if o.Diagnostics.Metrics == "" {
		return "", nil
	}
	at, err := metrics.Addr(o.Diagnostics.Metrics, local)
	if err != nil {
		return "", badOption("THUNDER_METRICS: %w", err)
	}
	return at, nil
}

// heartbeatTimeout is how long these ranks may be silent.
func (o Options) heartbeatTimeout(peers []rendezvous.Peer) time.Duration {
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
	j := o.Join
	c := rendezvous.Config{
		Rank: rendezvous.NoRank, Addrs: j.Addrs, Coordinator: j.Coordinator, Hostfile: j.Hostfile, Edges: j.Edges,
		Token: o.Security.Token, Insecure: o.Security.Insecure, StartTimeout: j.StartTimeout,
	}
	if j.Size != 0 {
		c.Rank, c.Size = j.Rank, j.Size
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
