// Package blame lets a rank tell its launcher which other rank caused the failure of its
// group. The launcher cannot see that from the order in which processes end: ranks that
// lose a peer may end before that peer does.
package blame

import (
	"os"
	"strconv"
	"strings"
)

// Variable is the environment variable with the name of the file that a rank writes. The
// launcher sets it for each rank.
const Variable = "THUNDER_BLAME_FILE"

// FileName returns the name of a rank's file in the folder of its job.
func FileName(rank int) string { return "blame-" + strconv.Itoa(rank) }

// Write writes to file that this process ends because of the given rank.
func Write(file string, rank int) error {
	// Rename it, so that a reader never sees half of it.
	if err := os.WriteFile(file+".new", []byte(strconv.Itoa(rank)+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// Read returns the rank in a file; ok is false if there is none.
func Read(file string) (rank int, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	rank, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return rank, err == nil && rank >= 0
}
