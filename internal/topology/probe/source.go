package probe

import (
	"context"
	"errors"
	"io/fs"
	"strings"
)

// A Source is what a probe reads from. Paths have no leading slash and use forward
// slashes: "sys/class/net".
//
// The error for a missing file or directory wraps fs.ErrNotExist, that for a command that
// is not installed wraps ErrNoCommand; both mean "not present". A Source is safe for
// concurrent use.
type Source interface {
	// OS returns "linux" or "darwin".
	OS() string
	ReadFile(path string) ([]byte, error)
	// ReadDir returns the names in a directory, sorted.
	ReadDir(path string) ([]string, error)
	ReadLink(path string) (string, error)
	// Run returns the standard output of a command.
	Run(ctx context.Context, name string, args ...string) ([]byte, error)
}

// ErrNoCommand means that a command is not installed on the probed machine.
var ErrNoCommand = errors.New("command not found")

// CommandFile returns the name of the file below commands/ that holds the output of a
// command in a captured machine: its words, cut to a limit. If the command failed, its
// error is in the file of the same name with ".err" appended.
func CommandFile(name string, args ...string) string {
	s := strings.Join(append([]string{name}, args...), "_")
	if len(s) > 48 {
		s = s[:48]
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-.+=,", r):
			return r
		}
		return '-'
	}, s)
}

// absent reports whether err means that something is not present.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNoCommand)
}

// readLine returns the first line of a small file, trimmed, or "" if it cannot be read.
// It is for attributes that are optional.
func readLine(src Source, path string) string {
	b, err := src.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}
