package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	thunder "thundercollective"
)

// TestInspect has ranks fail, and looks at what they left behind.
func TestInspect(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	comms, err := thunder.Local(2, thunder.Options{Diagnostics: thunder.Diagnostics{DumpDir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	comms[0].Abort("the data is bad")
	_ = thunder.Barrier(t.Context(), comms[1])
	for _, c := range comms {
		c.Close()
	}
	html, trace := filepath.Join(out, "flight.html"), filepath.Join(out, "trace.json")
	var stdout, stderr bytes.Buffer
	code := execute(context.Background(), []string{"inspect", dir, "--html", html, "--trace", trace}, &stdout, &stderr)
	if code != exitFailed || !strings.HasPrefix(stdout.String(), "rank 0 aborted: the data is bad\n") || stderr.Len() > 0 {
		t.Errorf("exit code %d\n%s%s", code, stdout.String(), stderr.String())
	}
	for _, path := range []string{html, trace} {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
	stdout.Reset()
	execute(context.Background(), []string{"inspect", dir, "--json"}, &stdout, &stderr)
	var report struct {
		Verdict string
		Size    int
	}
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil || report.Size != 2 || report.Verdict == "" {
		t.Errorf("%v: %s", err, stdout.String())
	}
	for _, args := range [][]string{{"inspect"}, {"inspect", t.TempDir()}} {
		stderr.Reset()
		if code := execute(context.Background(), args, &stdout, &stderr); code == exitOK || stderr.Len() == 0 {
			t.Errorf("%v: exit code %d, %s", args, code, stderr.String())
		}
	}
}

// TestInspectRunning looks at ranks of which two wait for the third in the first operation,
// once with an answer of the third and once without.
func TestInspectRunning(t *testing.T) {
	var mu sync.Mutex
	addrs := make([]string, 3)
	logger := slog.New(slog.NewTextHandler(writerFunc(func(b []byte) (int, error) {
		if m := regexp.MustCompile(`msg=metrics rank=(\d) .*addr=(\S+)`).FindSubmatch(b); m != nil {
			mu.Lock()
			defer mu.Unlock()
			addrs[m[1][0]-'0'] = string(m[2])
		}
		return len(b), nil
	}), nil))
	comms, err := thunder.Local(3, thunder.Options{Diagnostics: thunder.Diagnostics{Metrics: "0", Logger: logger}})
	if err != nil {
		t.Fatal(err)
	}
	var waits []*thunder.Work
	for _, c := range comms[:2] {
		waits = append(waits, thunder.BarrierAsync(t.Context(), c))
	}
	defer func() {
		for _, c := range comms {
			c.Close()
		}
		for _, w := range waits {
			_ = w.Wait()
		}
	}()
	time.Sleep(1100 * time.Millisecond)
	stopped, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stopped.Close()
	mu.Lock()
	defer mu.Unlock()
	for _, tt := range []struct{ third, want string }{
		{addrs[2], `^rank 2 had not called operation #1, barrier, while others waited in it for [0-9.]+s\n`},
		{stopped.Addr().String(), `^ranks 0 and 1 waited [0-9.]+s in operation #1, barrier, for rank 2, which does not answer \(127.0.0.1:\d+\)\n(?s:.*)\n2 +\? +no answer`},
	} {
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), []string{"inspect", tt.third, addrs[0], addrs[1]}, &stdout, &stderr)
		if code != exitFailed || !regexp.MustCompile(tt.want).MatchString(stdout.String()) || stderr.Len() > 0 {
			t.Errorf("exit code %d, want %q in\n%s%s", code, tt.want, stdout.String(), stderr.String())
		}
	}
}

// A writerFunc is a function that is written to.
type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
