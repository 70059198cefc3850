package handshake

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
)

// Dial performs the dialer's part on conn. The caller sets the deadline of conn
// beforehand, and closes conn if Dial fails.
//
// It returns an *AuthError if the acceptor does not know the token, a *RejectedError if
// the acceptor knows it and refused, a *ProtocolError if the acceptor is not a thunder
// rank of this version, and otherwise an error that wraps that of conn.
func Dial(conn net.Conn, h Hello, token []byte) error {
	addr := conn.RemoteAddr().String()
	hello := encodeHello(h, newNonce())
	if _, err := conn.Write(hello[:]); err != nil {
		return fmt.Errorf("handshake with %s: sending hello: %w", addr, err)
	}

	var cw challengeWire
	if err := readHead(conn, cw[:headSize]); err != nil {
		return openingError(err, addr, "waiting for its challenge")
	}
	// Check the head before reading on: a peer of another version, or this dialer
	// itself, may never send a whole challenge.
	if perr := checkHead(cw[:], kindChallenge); perr != nil {
		return perr.at(addr)
	}
	if _, err := io.ReadFull(conn, cw[headSize:]); err != nil {
		return openingError(err, addr, "reading its challenge")
	}
	ns, server, perr := parseChallenge(&cw)
	if perr != nil {
		return perr.at(addr)
	}
	if want := mac(token, labelServer, &hello, &ns, nil); !want.equal(&server) {
		// The acceptor need not get this: the dialer fails either way.
		w := refusal()
		_, _ = conn.Write(w[:])
		return &AuthError{Rank: int(h.To), Addr: addr, Reason: "its proof is wrong"}
	}

	proof := encodeProof(mac(token, labelClient, &hello, &ns, nil))
	if _, err := conn.Write(proof[:]); err != nil {
		return fmt.Errorf("handshake with %s: sending proof: %w", addr, err)
	}

	var vw verdictWire
	if _, err := io.ReadFull(conn, vw[:]); err != nil {
		return fmt.Errorf("handshake with %s: waiting for its verdict: %w", addr, err)
	}
	if want := mac(token, labelVerdict, &hello, &ns, vw[:verdictBody]); !want.equal((*macSum)(vw[verdictBody:])) {
		return &AuthError{Rank: int(h.To), Addr: addr, Reason: "its verdict is not authentic"}
	}
	code, text, perr := parseVerdict(&vw)
	switch {
	case perr != nil:
		return perr.at(addr)
	case code == codeOK:
		return nil
	case code == codeAuth:
		return &AuthError{Rank: int(h.To), Addr: addr, Reason: "it refused this rank's proof"}
	}
	return &RejectedError{Code: code, Text: text}
}

func newNonce() (n nonce) {
	rand.Read(n[:]) // never fails
	return n
}

// readHead fills b, the head of a message. It fails at the first byte that a thunder
// rank would not send, so that another program which waits for more input is
// recognised at once and not at the deadline.
func readHead(conn net.Conn, b []byte) error {
	for n := 0; n < len(b); {
		m, err := conn.Read(b[n:])
		n += m
		if k := min(n, len(magic)); string(b[:k]) != magic[:k] {
			return strangerError(b[:n])
		}
		if err != nil && n < len(b) {
			return err
		}
	}
	return nil
}

// openingError adds context to an error of reading a peer's first message.
func openingError(err error, addr, doing string) error {
	if perr, ok := errors.AsType[*ProtocolError](err); ok {
		return perr.at(addr)
	}
	return fmt.Errorf("handshake with %s: %s: %w", addr, doing, err)
}
