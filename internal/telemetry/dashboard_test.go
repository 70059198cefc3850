package telemetry

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDashboard checks that the dashboard asks for series that exist.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../../examples/grafana/thunder.json")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("scrape.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`thunder_[a-z_]+`).FindAllString(string(text), -1)
	if len(names) < 10 {
		t.Errorf("only %d series", len(names))
	}
	for _, name := range names {
		if !strings.Contains(string(source), `"`+strings.TrimSuffix(name, "_bucket")+`"`) {
			t.Errorf("nobody serves %s", name)
		}
	}
}
