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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends the work in order. After it the default action is restored, so
	// that a second signal ends the process immediately.
	context.AfterFunc(ctx, stop)
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
