package thunder

import (
	"io"
	"log/slog"
	"os"
	"sync"

	"thundercollective/internal/env"
)

// logLevels are the values of THUNDER_LOG beside off. An error that an operation returns is
// logged below warnings: its caller has it already.
var logLevels = map[string]slog.Level{
	"":      slog.LevelWarn,
	"warn":  slog.LevelWarn,
	"info":  slog.LevelInfo,
	"debug": slog.LevelDebug,
}

// newLogger returns the logger of a program that brings none. It writes to w what is at
// least as grave as THUNDER_LOG says; warnings by default.
func newLogger(w io.Writer, r *env.Reader) *slog.Logger {
	level := r.Choice(env.Log)
	if level == "off" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: logLevels[level]}))
}

// hinted are the variables that hint has mentioned in this process.
var hinted sync.Map

// hint mentions variables that have a new name, and those that look like ours but are not:
// once in a process, and by the first rank of a machine alone.
func hint(log *slog.Logger, strangers []string) {
	if (&env.Reader{}).Int(env.LocalRank) > 0 {
		return
	}
	once := func(name, text string) {
		if _, again := hinted.LoadOrStore(name, true); !again {
			log.Warn(name + text)
		}
	}
	for _, pair := range env.Renamed(os.Getenv) {
		once(pair[0], " is now called "+pair[1]+"; the old name still works")
	}
	for _, name := range strangers {
		once(name, " is no variable of thunder and has no effect; 'thunder env' lists those that there are")
	}
}
