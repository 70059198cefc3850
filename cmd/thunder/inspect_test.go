package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
