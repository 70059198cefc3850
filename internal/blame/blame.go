// Package blame passes on whom a rank blames for the end of its group, from the rank to
// its launcher. Ranks that lose a peer may well be gone before it: what came first cannot
// be told from the times at which processes end.
package blame

import (
	"os"
	"strconv"
	"strings"

	"thundercollective/internal/env"
)

// Variable names the environment variable with the name of the file in which a rank says
// whom it blames. The launcher chooses one for each rank.
const Variable = env.BlameFile

// FileName is the name of a rank's file in the folder of its job.
func FileName(rank int) string { return "blame-" + strconv.Itoa(rank) }

// Write says that the rank of this process ends because of another.
func Write(file string, rank int) error {
	// Whoever reads it finds all of it or nothing.
	if err := os.WriteFile(file+".new", []byte(strconv.Itoa(rank)+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// Read returns whom the file blames; false if nobody.
func Read(file string) (rank int, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	rank, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return rank, err == nil && rank >= 0
}
