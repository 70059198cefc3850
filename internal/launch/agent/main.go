package agent

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main is Run for a separate process. It uses the process's stdin and stdout.
func Main(ctx context.Context, cfg Config) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A broken pipe must be an error, not end this process. The signal is caught rather
	// than ignored because ranks would inherit that.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	cfg.In, cfg.Out = os.Stdin, os.Stdout
	return Run(ctx, cfg)
}
