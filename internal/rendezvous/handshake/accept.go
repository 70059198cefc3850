package handshake

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
)

// Accept performs the acceptor's part on conn. The caller sets the deadline of
// conn beforehand, and closes conn if Accept fails.
//
// Once the dialer has proved that it knows the token, Accept calls admit to decide
// whether to let it in. Accept sends an error of admit to the dialer (with the code and
// text of a *RejectedError, else as Other) and returns it wrapped. admit must check at
// least Purpose and To, because the dialer takes an ok as coming from the rank it wanted.
//
// If Accept fails after admit returned nil, the dialer is not connected: the caller
// releases what admit reserved.
//
// The other errors are an *AuthError if the dialer does not know the token or reports
// that this end does not, a *ProtocolError if it is not a thunder rank of this
// version, one that wraps ErrNoHello if it hung up before it could be identified, and
// otherwise one that wraps that of conn.
func Accept(conn net.Conn, token []byte, admit func(Hello) error) (Hello, error) {
	addr := conn.RemoteAddr().String()
	var hello helloWire
	if err := readHead(conn, hello[:headSize]); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: %w", ErrNoHello, err)
		}
		return Hello{}, openingError(err, addr, "waiting for its hello")
	}
	if _, err := io.ReadFull(conn, hello[headSize:]); err != nil {
		return Hello{}, openingError(err, addr, "reading its hello")
	}
	h, perr := parseHello(&hello)
	if perr != nil {
		if perr.Version != 0 {
			// An empty challenge carries our version to the dialer.
			w := encodeChallenge(nonce{}, macSum{})
			_, _ = conn.Write(w[:])
		}
		return Hello{}, perr.at(addr)
	}

	ns := newNonce()
	challenge := encodeChallenge(ns, mac(token, labelServer, &hello, &ns, nil))
	if _, err := conn.Write(challenge[:]); err != nil {
		return Hello{}, fmt.Errorf("handshake with %s: sending challenge: %w", addr, err)
	}

	var pw proofWire
	if _, err := io.ReadFull(conn, pw[:]); err != nil {
		return Hello{}, fmt.Errorf("handshake with %s: waiting for its proof: %w", addr, err)
	}
	client, refused, perr := parseProof(&pw)
	switch want := mac(token, labelClient, &hello, &ns, nil); {
	case perr != nil:
		return Hello{}, perr.at(addr)
	case refused:
		return Hello{}, &AuthError{Rank: claimed(h), Addr: addr, Reason: "it refused this rank's proof"}
	case !want.equal(&client):
		_ = sendVerdict(conn, token, &hello, &ns, codeAuth, "")
		return Hello{}, &AuthError{Rank: claimed(h), Addr: addr, Reason: "its proof is wrong"}
	}

	if err := admit(h); err != nil {
		code, text := Other, err.Error()
		// Codes outside this range do not mean a refusal on the wire.
		if rej, ok := errors.AsType[*RejectedError](err); ok && rej.Code >= WrongSize && rej.Code <= Other {
			code, text = rej.Code, rej.Text
		}
		_ = sendVerdict(conn, token, &hello, &ns, code, text)
		return Hello{}, fmt.Errorf("refused rank %d at %s: %w", h.From, addr, err)
	}
	if err := sendVerdict(conn, token, &hello, &ns, codeOK, ""); err != nil {
		return Hello{}, fmt.Errorf("handshake with %s: sending verdict: %w", addr, err)
	}
	return h, nil
}

func sendVerdict(conn net.Conn, token []byte, hello *helloWire, ns *nonce, c Code, text string) error {
	w := encodeVerdict(c, text)
	m := mac(token, labelVerdict, hello, ns, w[:verdictBody])
	copy(w[verdictBody:], m[:])
	_, err := conn.Write(w[:])
	return err
}

// claimed returns the rank that an unproved hello names, or -1 if that cannot be a rank.
func claimed(h Hello) int {
	if h.From >= h.Size || h.From > math.MaxInt32 {
		return -1
	}
	return int(h.From)
}
