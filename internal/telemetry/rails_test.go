package telemetry

import (
	"strings"
	"testing"

	"thundercollective/internal/metrics"
	"thundercollective/internal/provider/rails"
)

// TestRailMetrics writes what rails count.
func TestRailMetrics(t *testing.T) {
	e := metrics.NewEncoder()
	scrapeRails(e, []rails.State{
		{Peer: 1, Near: "a", Far: "b", Device: "en5", Up: true, Sent: 10, Recv: 20},
		{Peer: 1, Near: "c", Far: "d", Device: "en6", Sent: 30, Failovers: 2, ResentPieces: 7},
	})
	for _, want := range []string{
		`thunder_rail_sent_bytes_total{peer="1",near="a",far="b",device="en5"} 10`,
		`thunder_rail_failovers_total{peer="1",near="c",far="d",device="en6"} 2`,
		`thunder_rail_retries_total{peer="1",near="c",far="d",device="en6"} 7`,
		`thunder_rail_up{peer="1",near="c",far="d",device="en6"} 0`,
		"# TYPE thunder_rail_up gauge",
	} {
		if !strings.Contains(string(e.Bytes()), want+"\n") {
			t.Errorf("no %s in\n%s", want, e.Bytes())
		}
	}
}
