package rendezvous

import "fmt"

// An ExposureError reports that a rank would listen where strangers can connect, with
// no token to tell them from its peers.
type ExposureError struct {
	Addr string
}

func (e *ExposureError) Error() string {
	return fmt.Sprintf("listening on %s without a token would let anyone on that network join the job; "+
		"give all ranks the same secret with --token-file (THUNDER_TOKEN_FILE, THUNDER_TOKEN), or accept the risk with --insecure (THUNDER_INSECURE=1)", e.Addr)
}

// CheckExposure returns an *ExposureError if an address is beyond loopback and there is
// no token, unless the user accepts that (insecure).
func CheckExposure(addrs []string, token []byte, insecure bool) error {
	if len(token) > 0 || insecure {
		return nil
	}
	for _, addr := range addrs {
		e, err := parseEndpoint(addr)
		if err != nil {
			return fmt.Errorf("address to listen on: %q %w", addr, err)
		}
		if !e.loopback() {
			return &ExposureError{Addr: addr}
		}
	}
	return nil
}
