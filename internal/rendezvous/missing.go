package rendezvous

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Limits of the lists in a MissingError.
const (
	maxListedRanks   = 16
	maxListedTrouble = 4
)

// A MissingError reports that ranks did not arrive in time. Every rank that did arrive
// gets it, and Serve returns it.
type MissingError struct {
	Missing []int // ranks, ascending
	Size    int
	Waited  time.Duration // how long the rank that reports it has waited

	// Connections that failed meanwhile: one of them may be the missing rank. The
	// lists hold the first few.
	AuthFailures int      // connections that failed authentication
	AuthFrom     []string // where those came from
	Refusals     []string // why ranks that knew the token were refused
}

func (e *MissingError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %d did not arrive within %s", rankList(e.Missing), e.Size, seconds(e.Waited))
	if e.AuthFailures > 0 {
		noun := "connection"
		if e.AuthFailures > 1 {
			noun = "connections"
		}
		fmt.Fprintf(&b, "; %d %s failed authentication from %s", e.AuthFailures, noun, strings.Join(e.AuthFrom, ", "))
	}
	for _, r := range e.Refusals {
		b.WriteString("; " + r)
	}
	return b.String()
}

// rankList formats ranks: "rank 2", "ranks 2 and 3", "ranks 1, 2 and 3".
func rankList(ranks []int) string {
	if len(ranks) == 1 {
		return "rank " + strconv.Itoa(ranks[0])
	}
	words := make([]string, 0, maxListedRanks+1)
	for i, r := range ranks {
		if i == maxListedRanks {
			words = append(words, fmt.Sprintf("%d more", len(ranks)-i))
			break
		}
		words = append(words, strconv.Itoa(r))
	}
	if len(words) == 0 {
		return "ranks"
	}
	last := len(words) - 1
	return "ranks " + strings.Join(words[:last], ", ") + " and " + words[last]
}

// seconds formats d: "60 s", "0.25 s".
func seconds(d time.Duration) string {
	unit := time.Second
	if d < 10*time.Second {
		unit = 10 * time.Millisecond
	}
	return strconv.FormatFloat(d.Round(unit).Seconds(), 'f', -1, 64) + " s"
}
