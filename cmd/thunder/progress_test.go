package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Work that takes a while has a line that says how far it is; other output goes
// above it, and none of it is left at the end.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		p := startProgress(&screen, true, false)
		// shown returns what came onto the screen since the last call.
		shown := func() string {
			p.mu.Lock()
			defer p.mu.Unlock()
			defer screen.Reset()
			return screen.String()
		}
		p.set("measuring 1 of 2")
		time.Sleep(progressDelay / 2)
		synctest.Wait()
		if got := shown(); got != "" {
			t.Errorf("it says %q too early", got)
		}
		time.Sleep(progressDelay)
		synctest.Wait()
		const erase = "\r\x1b[K"
		if got := shown(); !strings.HasSuffix(got, "measuring 1 of 2 · 1 s") && !strings.HasSuffix(got, "measuring 1 of 2 · 2 s") {
			t.Errorf("it says %q", got)
		}
		if n, err := p.Write([]byte("a row\n")); n != 6 || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
		if got := shown(); got != erase+"a row\n" {
			t.Errorf("a row became %q", got)
		}
		time.Sleep(progressDelay)
		synctest.Wait()
		shown()
		p.close()
		if got := shown(); got != erase {
			t.Errorf("closing wrote %q", got)
		}
	})
}

func TestProgressWithoutATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(&out)
		p.set("measuring")
		time.Sleep(10 * progressDelay)
		p.close()
		if out.Len() != 0 {
			t.Errorf("it wrote %q", out.String())
		}
	})
}
