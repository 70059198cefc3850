package tcp

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// The warning about refused connections has no empty fields.
func TestRefusedLogWithoutReason(t *testing.T) {
	for _, last := range []string{"", "from 10.0.0.9: no hello"} {
		var b bytes.Buffer
		a := &admission{failed: 3, last: last}
		a.log(slog.New(slog.NewTextHandler(&b, nil)), time.Now())
		if text := b.String(); !strings.Contains(text, "count=3") || strings.Contains(text, "last=") != (last != "") {
			t.Errorf("last %q: %s", last, text)
		}
	}
}
