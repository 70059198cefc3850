//go:build unix

package telemetry

import (
	"os"
	"os/signal"
	"syscall"
)

// dumpOnSignal writes the flight recorder at every SIGUSR1 until the job ends.
func (t *Job) dumpOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	defer signal.Stop(signals)
	for {
		select {
		case <-signals:
			t.Dump("SIGUSR1")
		case <-t.done:
			return
		}
	}
}
