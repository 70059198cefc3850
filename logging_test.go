package thunder

import (
	"strings"
	"testing"

	"thundercollective/internal/env"
)

// TestLogLevels: who brings no logger hears of warnings; THUNDER_LOG says otherwise.
func TestLogLevels(t *testing.T) {
	for level, want := range map[string]string{
		"": "W", "warn": "W", "WARN": "W", "info": "WI", "debug": "WID", "off": "",
	} {
		var out strings.Builder
		r := &env.Reader{Getenv: func(string) string { return level }}
		log := newLogger(&out, r)
		if err := r.Err(); err != nil {
			t.Errorf("%q: %v", level, err)
			continue
		}
		log.Warn("W")
		log.Info("I")
		log.Debug("D")
		var got string
		for line := range strings.Lines(out.String()) {
			_, msg, _ := strings.Cut(line, "msg=")
			got += strings.TrimSpace(msg)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", level, got, want)
		}
	}
	t.Setenv("THUNDER_LOG", "loud")
	if _, err := Init(t.Context(), Options{Join: Join{Size: 1}}); err == nil || !strings.Contains(err.Error(), "off, warn, info or debug") {
		t.Errorf("THUNDER_LOG=loud: %v", err)
	}
}
