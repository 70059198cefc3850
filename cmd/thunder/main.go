// Command thunder connects a few machines on a desk into one fabric: it measures and
// checks the links between them and runs programs on them. `thunder help` lists its
// verbs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		by := <-signals
		// The first signal ends the work in order. After it the default action is restored,
		// so that a second signal ends the process immediately.
		signal.Stop(signals)
		number, _ := by.(syscall.Signal)
		cancel(&interruption{number})
	}()
	os.Exit(execute(ctx, os.Args[1:], &standardOutput{file: os.Stdout}, os.Stderr))
}
