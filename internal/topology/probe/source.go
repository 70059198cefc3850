package probe

import (
	"context"
	"errors"
	"io/fs"
	"strings"
)

// A Source is where a probe reads from. Paths have no leading slash and use
// forward slashes: "sys/class/net".
//
// A missing file or directory is an error that is fs.ErrNotExist, a command that
// is not installed is ErrNoCommand; both mean "not present", not "broken".
// Safe for concurrent use.
type Source interface {
	// OS is "linux" or "darwin".
	OS() string
	ReadFile(path string) ([]byte, error)
	// ReadDir returns the names in a directory, sorted.
	ReadDir(path string) ([]string, error)
	ReadLink(path string) (string, error)
	// Run returns what a command wrote to its standard output.
	Run(ctx context.Context, name string, args ...string) ([]byte, error)
}

// ErrNoCommand says that a command is not installed on the probed machine.
var ErrNoCommand = errors.New("command not found")

// CommandFile is the name, below commands/, that holds the output of a command
// in a captured machine: its words, cut where they get long. A command that
// failed has its error in the same name with ".err" added.
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

// absent reports whether err only means that something is not there.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNoCommand)
}

// readLine returns the first line of a small file, trimmed, or "" when it cannot
// be read. For attributes that are optional by design.
func readLine(src Source, path string) string {
	b, err := src.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}
