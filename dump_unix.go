//go:build unix

package thunder

import (
	"os"
	"os/signal"
	"syscall"
)

// dumpOnSignal writes the flight recorder at every SIGUSR1 until the job ends.
func (j *job) dumpOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	defer signal.Stop(signals)
	for {
		select {
		case <-signals:
			j.dump("SIGUSR1")
		case <-j.ctx.Done():
			return
		}
	}
}
