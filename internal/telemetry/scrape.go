package telemetry

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/metrics"
	"thundercollective/internal/provider/rails"
)

// ServeMetrics serves metrics, and dumps for thunder inspect, until Close.
func (t *Job) ServeMetrics(addr string) error {
	series := metrics.Handler(t.scrape,
		metrics.Label{Name: "rank", Value: strconv.Itoa(t.cfg.Rank)},
		metrics.Label{Name: "generation", Value: strconv.FormatUint(uint64(t.cfg.Generation), 10)},
	)
	s, err := metrics.Serve(addr, map[string]http.HandlerFunc{
		"/metrics": series.ServeHTTP,
		"/flight": func(w http.ResponseWriter, _ *http.Request) {
			var b bytes.Buffer
			if err := writeDump(&b, t.Snapshot("asked for")); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(b.Bytes())
		},
	})
	if err != nil {
		return err
	}
	t.server = s
	t.cfg.Log.Info("metrics", "addr", s.Addr())
	return nil
}

// scrape reports all metrics.
func (t *Job) scrape(e *metrics.Scrape) {
	e.Gauge("thunder_info", "What this rank is.", 1, metrics.Label{Name: "host", Value: t.cfg.Host},
		metrics.Label{Name: "fabric", Value: t.cfg.Fabric}, metrics.Label{Name: "size", Value: strconv.Itoa(t.cfg.Size)})
	t.scrapeOperations(e)
	for kind, n := range map[string]*atomic.Uint64{"lost": &t.lost, "timeout": &t.timeouts, "mismatch": &t.mismatches, "abort": &t.aborts} {
		e.Counter("thunder_group_failures_total", "Groups that ended, by kind of error.", n.Load(), metrics.Label{Name: "kind", Value: kind})
	}
	status := t.cfg.Status()
	e.Counter("thunder_heartbeats_sent_total", "Heartbeats sent.", status.BeatsSent)
	e.Counter("thunder_control_received_total", "Heartbeats and other messages received beside the data.", status.Received)
	t.scrapePeers(e, status.Peers)
	if t.cfg.Rails != nil {
		scrapeRails(e, t.cfg.Rails())
	}
}

func (t *Job) scrapeOperations(e *metrics.Scrape) {
	sum := t.operations()
	each := func(f func(label metrics.Label, k *kindMeter)) {
		for kind := range sum.kinds {
			if k := &sum.kinds[kind]; k.times.Count()+k.failed.Load() > 0 {
				f(metrics.Label{Name: "kind", Value: collective.Kind(kind).String()}, k)
			}
		}
	}
	each(func(l metrics.Label, k *kindMeter) {
		e.Counter("thunder_operations_total", "Operations that succeeded.", k.times.Count(), l)
	})
	each(func(l metrics.Label, k *kindMeter) {
		e.Counter("thunder_operations_failed_total", "Operations that failed.", k.failed.Load(), l)
	})
	each(func(l metrics.Label, k *kindMeter) {
		e.Counter("thunder_operation_bytes_total", "Size of the buffers of operations that succeeded.", k.bytes.Load(), l)
	})
	each(func(l metrics.Label, k *kindMeter) {
		e.Histogram("thunder_operation_seconds", "How long operations took.", &k.times, l)
	})
}

// scrapePeers adds what is known of each other rank, and what crossed the links to it.
func (t *Job) scrapePeers(e *metrics.Scrape, peers []PeerState) {
	traffic := t.traffic()
	each := func(f func(p *PeerState, peer, host metrics.Label)) {
		for i := range peers {
			p := &peers[i]
			f(p, metrics.Label{Name: "peer", Value: strconv.Itoa(p.Rank)}, metrics.Label{Name: "host", Value: p.Host})
		}
	}
	each(func(p *PeerState, peer, host metrics.Label) {
		up := 1.0
		if p.Gone != nil {
			up = 0
		}
		e.Gauge("thunder_peer_up", "1 while the rank is there.", up, peer, host)
	})
	each(func(p *PeerState, peer, host metrics.Label) {
		e.Gauge("thunder_peer_silent_seconds", "Since the rank was last heard of.", p.Silent.Seconds(), peer, host)
	})
	for _, s := range []struct {
		name, help string
		value      func(t *fabric.Traffic) uint64
	}{
		{"thunder_link_sent_bytes_total", "Payload sent to the rank.", func(t *fabric.Traffic) uint64 { return t.SentBytes }},
		{"thunder_link_received_bytes_total", "Payload received from the rank.", func(t *fabric.Traffic) uint64 { return t.RecvBytes }},
		{"thunder_link_sent_messages_total", "Messages sent to the rank.", func(t *fabric.Traffic) uint64 { return t.SentMessages }},
		{"thunder_link_received_messages_total", "Messages received from the rank.", func(t *fabric.Traffic) uint64 { return t.RecvMessages }},
	} {
		each(func(p *PeerState, peer, host metrics.Label) {
			e.Counter(s.name, s.help, s.value(&traffic[p.Rank]), peer, host)
		})
	}
}

// scrapeRails adds the rails to each rank that has several.
func scrapeRails(e *metrics.Scrape, list []rails.State) {
	for _, s := range []struct {
		name, help string
		value      func(r *rails.State) uint64
	}{
		{"thunder_rail_sent_bytes_total", "Payload sent over the rail.", func(r *rails.State) uint64 { return r.Sent }},
		{"thunder_rail_received_bytes_total", "Payload received over the rail.", func(r *rails.State) uint64 { return r.Recv }},
		{"thunder_rail_failovers_total", "How often the rail was lost and others took over.", func(r *rails.State) uint64 { return uint64(r.Failovers) }},
		{"thunder_rail_retries_total", "Pieces that had to be sent again on other rails.", func(r *rails.State) uint64 { return uint64(r.ResentPieces) }},
		{"thunder_rail_up", "1 while the rail works.", func(r *rails.State) uint64 {
			if r.Up {
				return 1
			}
			return 0
		}},
	} {
		for i := range list {
			r := &list[i]
			labels := []metrics.Label{{Name: "peer", Value: strconv.Itoa(r.Peer)}, {Name: "near", Value: r.Near}, {Name: "far", Value: r.Far}, {Name: "device", Value: r.Device}}
			if strings.HasSuffix(s.name, "_total") {
				e.Counter(s.name, s.help, s.value(r), labels...)
			} else {
				e.Gauge(s.name, s.help, float64(s.value(r)), labels...)
			}
		}
	}
}
