package telemetry

import (
	"net/http/httptest"
	"strings"
	"testing"

	"thundercollective/internal/metrics"
	"thundercollective/internal/provider/rails"
)

// TestRailMetrics writes what rails count.
func TestRailMetrics(t *testing.T) {
	list := []rails.State{
		{Peer: 1, Near: "a", Far: "b", Device: "en5", Up: true, Sent: 10, Recv: 20},
		{Peer: 1, Near: "c", Far: "d", Device: "en6", Sent: 30, Failovers: 2, ResentPieces: 7},
	}
	w := httptest.NewRecorder()
	metrics.Handler(func(s *metrics.Scrape) { scrapeRails(s, list) }).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text := w.Body.String()
	for _, want := range []string{
		`thunder_rail_sent_bytes_total{device="en5",far="b",near="a",peer="1"} 10`,
		`thunder_rail_failovers_total{device="en6",far="d",near="c",peer="1"} 2`,
		`thunder_rail_retries_total{device="en6",far="d",near="c",peer="1"} 7`,
		`thunder_rail_up{device="en6",far="d",near="c",peer="1"} 0`,
		"# TYPE thunder_rail_up gauge",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
