package thunder

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"thundercollective/internal/liveness"
	"thundercollective/internal/metrics"
	"thundercollective/internal/publish"
)

// meter counts operations, by kind. They take turns.
type meter struct{ kinds [KindSendRecv + 1]kindMeter }

// meters are those of a job: groups count their own collectives.
type meters struct {
	mu    sync.Mutex
	pairs meter // messages between two ranks
	past  meter // collectives of groups that are closed
	// How groups ended, by kind of error.
	lost, timeouts, mismatches, aborts atomic.Uint64
}

// kindMeter is that of one operation; sends and receives of SendRecv count as
// sends and receives.
type kindMeter struct {
	bytes, failed atomic.Uint64
	times         metrics.Histogram
}

// note counts an operation.
func (m *meter) note(a *call, took time.Duration, err error) {
	k := &m.kinds[a.kind]
	if err != nil {
		publish.Add(&k.failed, 1)
		return
	}
	publish.Add(&k.bytes, a.bytes())
	k.times.Observe(took)
}

// merge counts what another one has.
func (m *meter) merge(other *meter) {
	for i := range m.kinds {
		k, o := &m.kinds[i], &other.kinds[i]
		publish.Add(&k.bytes, o.bytes.Load())
		publish.Add(&k.failed, o.failed.Load())
		k.times.Merge(&o.times)
	}
}

// notePair counts a message between two ranks.
func (m *meters) notePair(a *call, took time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pairs.note(a, took, err)
}

// operations adds up what all groups have done, also those that are closed.
func (j *job) operations() *meter {
	sum := &meter{}
	j.mu.Lock() // a group counts here until it counts as past
	defer j.mu.Unlock()
	for _, c := range j.groups {
		sum.merge(&c.meter)
	}
	sum.merge(&j.meters.past)
	j.meters.mu.Lock()
	defer j.meters.mu.Unlock()
	sum.merge(&j.meters.pairs)
	return sum
}

// noteFailure counts the end of a group.
func (m *meters) noteFailure(err error) {
	switch err.(type) {
	case *PeerLostError:
		m.lost.Add(1)
	case *TimeoutError:
		m.timeouts.Add(1)
	case *MismatchError:
		m.mismatches.Add(1)
	case *AbortError:
		m.aborts.Add(1)
	}
}

// serveMetrics answers scrapes, and questions of thunder inspect, until the job is
// closed.
func (j *job) serveMetrics(addr string) error {
	s, err := metrics.Serve(addr, map[string]http.HandlerFunc{
		"/metrics": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			_, _ = w.Write(j.scrape())
		},
		"/flight": func(w http.ResponseWriter, _ *http.Request) {
			var b bytes.Buffer
			if err := writeDump(&b, j.snapshot("asked for")); err != nil {
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
	j.metrics = s
	j.log.Info("metrics", "addr", s.Addr())
	return nil
}

// scrape is everything there is to count.
func (j *job) scrape() []byte {
	e := metrics.NewEncoder(
		metrics.Label{Name: "rank", Value: strconv.Itoa(j.rank)},
		metrics.Label{Name: "generation", Value: strconv.FormatUint(uint64(j.generation), 10)},
	)
	e.Gauge("thunder_info", "What this rank is.", 1, metrics.Label{Name: "host", Value: j.host(j.rank)},
		metrics.Label{Name: "fabric", Value: j.fabricName()}, metrics.Label{Name: "size", Value: strconv.Itoa(len(j.hosts))})
	j.scrapeOperations(e)
	for kind, n := range map[string]*atomic.Uint64{"lost": &j.meters.lost, "timeout": &j.meters.timeouts, "mismatch": &j.meters.mismatches, "abort": &j.meters.aborts} {
		e.Counter("thunder_group_failures_total", "Groups that ended, by kind of error.", n.Load(), metrics.Label{Name: "kind", Value: kind})
	}
	if j.alive != nil {
		e.Counter("thunder_heartbeats_sent_total", "Heartbeats sent.", j.alive.beats.sent.Load())
		e.Counter("thunder_control_received_total", "Heartbeats and other messages received beside the data.", j.alive.beats.received.Load())
		j.scrapePeers(e)
		scrapeRails(e, j.rails())
	}
	return e.Bytes()
}

func (j *job) scrapeOperations(e *metrics.Encoder) {
	sum := j.operations()
	each := func(f func(label metrics.Label, k *kindMeter)) {
		for kind := range sum.kinds {
			if k := &sum.kinds[kind]; k.times.Count()+k.failed.Load() > 0 {
				f(metrics.Label{Name: "kind", Value: Kind(kind).String()}, k)
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

// scrapePeers tells of each other rank: whether it is there, and what crossed the
// links to it.
func (j *job) scrapePeers(e *metrics.Encoder) {
	traffic := make([]Traffic, len(j.hosts))
	for _, c := range j.all() {
		c.paths.traffic(traffic)
		c.direct.traffic(traffic)
	}
	each := func(f func(r int, peer, host metrics.Label)) {
		for r, p := range j.peers {
			if p != nil {
				f(r, metrics.Label{Name: "peer", Value: strconv.Itoa(r)}, metrics.Label{Name: "host", Value: j.host(r)})
			}
		}
	}
	each(func(r int, peer, host metrics.Label) {
		up := 1.0
		if j.gone(r) != nil {
			up = 0
		}
		e.Gauge("thunder_peer_up", "1 while the rank is there.", up, peer, host)
	})
	each(func(r int, peer, host metrics.Label) {
		var silent time.Duration
		j.alive.with(func(m *liveness.Monitor, now time.Duration) { silent = m.Silent(r, now) })
		e.Gauge("thunder_peer_silent_seconds", "Since the rank was last heard of.", silent.Seconds(), peer, host)
	})
	for _, s := range []struct {
		name, help string
		value      func(t *Traffic) uint64
	}{
		{"thunder_link_sent_bytes_total", "Payload sent to the rank.", func(t *Traffic) uint64 { return t.SentBytes }},
		{"thunder_link_received_bytes_total", "Payload received from the rank.", func(t *Traffic) uint64 { return t.RecvBytes }},
		{"thunder_link_sent_messages_total", "Messages sent to the rank.", func(t *Traffic) uint64 { return t.SentMessages }},
		{"thunder_link_received_messages_total", "Messages received from the rank.", func(t *Traffic) uint64 { return t.RecvMessages }},
	} {
		each(func(r int, peer, host metrics.Label) { e.Counter(s.name, s.help, s.value(&traffic[r]), peer, host) })
	}
}

// scrapeRails tells of each rail to each rank, where there are several.
func scrapeRails(e *metrics.Encoder, rails []Rail) {
	for _, s := range []struct {
		name, help string
		value      func(r *Rail) uint64
	}{
		{"thunder_rail_sent_bytes_total", "Payload sent over the rail.", func(r *Rail) uint64 { return r.Sent }},
		{"thunder_rail_received_bytes_total", "Payload received over the rail.", func(r *Rail) uint64 { return r.Recv }},
		{"thunder_rail_failovers_total", "How often the rail was lost and others took over.", func(r *Rail) uint64 { return uint64(r.Failovers) }},
		{"thunder_rail_retries_total", "Pieces that had to be sent again on other rails.", func(r *Rail) uint64 { return uint64(r.ResentPieces) }},
		{"thunder_rail_up", "1 while the rail works.", func(r *Rail) uint64 {
			if r.Up {
				return 1
			}
			return 0
		}},
	} {
		for i := range rails {
			r := &rails[i]
			labels := []metrics.Label{{Name: "peer", Value: strconv.Itoa(r.Peer)}, {Name: "near", Value: r.Near}, {Name: "far", Value: r.Far}, {Name: "device", Value: r.Device}}
			if strings.HasSuffix(s.name, "_total") {
				e.Counter(s.name, s.help, s.value(r), labels...)
			} else {
				e.Gauge(s.name, s.help, float64(s.value(r)), labels...)
			}
		}
	}
}

func (j *job) fabricName() string {
	if j.fab == nil {
		return "none"
	}
	return j.fab.Name()
}
