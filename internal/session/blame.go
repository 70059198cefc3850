package session

import (
	"os"
	"strings"

	"thundercollective/internal/blame"
	"thundercollective/internal/failure"
)

// BlameFile returns the file in which the launcher of this rank reads whom it blames for
// its end; "" where there is no launcher that wants to know. It takes back what was
// written in an earlier generation.
func BlameFile(getenv func(string) string) string {
	file := getenv(blame.Variable)
	if file != "" {
		_ = os.Remove(file)
	}
	return file
}

// Blame passes the rank that a failure blames, and why, on to the launcher, unless that is this
// rank. Where that cannot be written, the launcher goes by the order in which ranks end.
func (s *Session) Blame(err error) {
	if rank, ok := failure.Culprit(err); ok && rank != s.cfg.Rank && s.cfg.BlameFile != "" {
		if err := blame.Write(s.cfg.BlameFile, rank, strings.TrimPrefix(err.Error(), "thunder: ")); err != nil {
			s.cfg.Log.Debug("the launcher cannot be told whom this rank blames", "err", err)
		}
	}
}
