// Package blame passes on whom a rank blames for the end of its group, and why, from the
// rank to its launcher. Ranks that lose a peer may well be gone before it: what came first cannot
// be told from the times at which processes end.
package blame

import (
	"fmt"
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

// maxReason bounds the length of a reason.
const maxReason = 400

// Write records that the rank of this process ends because of another, and why, in one
// line.
func Write(file string, rank int, why string) error {
	why, _, _ = strings.Cut(why, "\n")
	text := fmt.Sprintf("%d\n%.*s\n", rank, maxReason, why)
	// Whoever reads it finds all of it or nothing.
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// Read returns whom the file blames, and why; false if nobody.
func Read(file string) (rank int, why string, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, "", false
	}
	number, why, _ := strings.Cut(string(text), "\n")
	rank, err = strconv.Atoi(number)
	return rank, strings.TrimSpace(why), err == nil && rank >= 0
}
