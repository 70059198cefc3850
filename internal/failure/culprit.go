package failure

import "errors"

// Culprit returns the rank that an error blames. It returns false if the error blames
// none, or several.
func Culprit(err error) (rank int, ok bool) {
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
