package thunder

import (
	"io"
	"log/slog"
	"strings"
)

// logLevels are what THUNDER_LOG can say. What an operation returns as its error is logged
// below warnings: whoever called it has been told.
var logLevels = map[string]slog.Level{
	"warn":  slog.LevelWarn,
	"info":  slog.LevelInfo,
	"debug": slog.LevelDebug,
}

// newLogger is the logger of a program that brings none: it writes to w what is at least
// as grave as level says, warnings if it says nothing.
func newLogger(w io.Writer, level string) (*slog.Logger, error) {
	switch level = strings.ToLower(level); level {
	case "off":
		return slog.New(slog.DiscardHandler), nil
	case "":
		level = "warn"
	}
	least, ok := logLevels[level]
	if !ok {
		return nil, badOption("THUNDER_LOG is %q: give off, warn, info or debug", level)
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: least})), nil
}
