package thunder

import (
	"errors"
	"os"

	"thundercollective/internal/blame"
)

// A blamer tells the launcher of this rank whom it blames for its end. It does nothing
// where there is no launcher that would like to know.
type blamer struct{ file string }

// newBlamer takes back what was said in an earlier generation.
func newBlamer(getenv func(string) string) blamer {
	b := blamer{getenv(blame.Variable)}
	if b.file != "" {
		_ = os.Remove(b.file)
	}
	return b
}

// blame passes on whom a failure names, unless that is this rank. Where that cannot be
// written, the launcher goes by the order in which ranks end.
func (j *job) blame(err error) {
	if rank, ok := culprit(err); ok && rank != j.rank && j.blamer.file != "" {
		if err := blame.Write(j.blamer.file, rank); err != nil {
			j.log.Debug("the launcher cannot be told whom this rank blames", "err", err)
		}
	}
}

// culprit is the rank that an error blames; false if it blames none, or several.
func culprit(err error) (rank int, ok bool) {
	var lost *PeerLostError
	var abort *AbortError
	var timeout *TimeoutError
	switch {
	case errors.As(err, &lost):
		return lost.Rank, true
	case errors.As(err, &abort):
		return abort.Rank, true
	case errors.As(err, &timeout):
		return timeout.Rank, true
	}
	return 0, false
}
