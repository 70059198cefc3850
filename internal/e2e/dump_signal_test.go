//go:build unix

package e2e_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	thunder "thundercollective"
)

// TestDumpOnSignal asks a healthy process for its flight recorder.
func TestDumpOnSignal(t *testing.T) {
	dir := t.TempDir()
	// Caught here too: the rank may not listen for it yet, and it must not end the
	// test.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGUSR1)
	defer signal.Stop(caught)
	memRanks(t, 1, thunder.Options{Diagnostics: thunder.Diagnostics{DumpDir: dir}})
	deadline := time.Now().Add(testLimit)
	for {
		if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "flight-g0-r0.json")); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no dump")
		}
		time.Sleep(time.Millisecond)
	}
}
