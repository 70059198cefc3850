package agent

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main is Run for a process of its own, which talks on its stdin and stdout.
func Main(ctx context.Context, cfg Config) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A broken pipe must be an error to be dealt with, not our death. It is
	// caught rather than ignored, because ranks would inherit that.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	cfg.In, cfg.Out = os.Stdin, os.Stdout
	return Run(ctx, cfg)
}
