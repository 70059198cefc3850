package handshake

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode"
)

const (
	challengeSize = headSize + nonceSize + macSize
	proofSize     = 1 + macSize
	verdictSize   = verdictBody + macSize
	verdictBody   = 3 + MaxText // kind, code, length of the text, text
)

// MaxText is the length limit of a refusal's text, in bytes; longer texts are cut.
const MaxText = 200

type (
	macSum        [macSize]byte
	challengeWire [challengeSize]byte
	proofWire     [proofSize]byte
	verdictWire   [verdictSize]byte
)

// Labels of the three MACs. None is a prefix of another, and what follows them has a
// fixed size, so the inputs of two different MACs are never the same bytes.
const (
	labelServer  = "thunder handshake server\x00"
	labelClient  = "thunder handshake client\x00"
	labelVerdict = "thunder handshake verdict\x00"
)

func mac(token []byte, label string, hello *helloWire, ns *nonce, body []byte) macSum {
	m := hmac.New(sha256.New, token)
	m.Write([]byte(label))
	m.Write(hello[:])
	m.Write(ns[:])
	m.Write(body)
	return macSum(m.Sum(nil))
}

func (m *macSum) equal(o *macSum) bool { return hmac.Equal(m[:], o[:]) }

func encodeChallenge(n nonce, m macSum) challengeWire {
	var w challengeWire
	putHead(w[:], kindChallenge, 0)
	copy(w[12:], n[:])
	copy(w[12+nonceSize:], m[:])
	return w
}

// parseChallenge is the inverse of encodeChallenge. Its errors have no address yet.
func parseChallenge(w *challengeWire) (nonce, macSum, *ProtocolError) {
	if err := checkHead(w[:], kindChallenge); err != nil {
		return nonce{}, macSum{}, err
	}
	if w[11] != 0 {
		return nonce{}, macSum{}, &ProtocolError{Reason: "sent a malformed challenge"}
	}
	return nonce(w[12 : 12+nonceSize]), macSum(w[12+nonceSize:]), nil
}

func encodeProof(m macSum) proofWire {
	var w proofWire
	w[0] = kindProof
	copy(w[1:], m[:])
	return w
}

// refusal replaces the proof if the dialer finds the challenge wrong.
func refusal() proofWire { return proofWire{0: kindRefusal} }

// parseProof returns the MAC, or refused when the dialer sent a refusal.
func parseProof(w *proofWire) (m macSum, refused bool, err *ProtocolError) {
	m = macSum(w[1:])
	switch {
	case w[0] == kindProof:
		return m, false, nil
	case *w == refusal():
		return macSum{}, true, nil
	}
	return macSum{}, false, &ProtocolError{Reason: fmt.Sprintf("sent message kind %d, not a proof", w[0])}
}

// encodeVerdict leaves the MAC empty, for the caller to fill in.
func encodeVerdict(c Code, text string) verdictWire {
	var w verdictWire
	w[0] = kindVerdict
	w[1] = uint8(c)
	text = cutText(text)
	w[2] = uint8(len(text))
	copy(w[3:], text)
	return w
}

// parseVerdict parses a verdict whose MAC the caller has checked. It accepts only
// what encodeVerdict produces.
func parseVerdict(w *verdictWire) (Code, string, *ProtocolError) {
	n := int(w[2])
	if w[0] != kindVerdict || n > MaxText || Code(w[1]) > codeLast {
		return 0, "", &ProtocolError{Reason: "sent a malformed verdict"}
	}
	text := string(w[3 : 3+n])
	want := encodeVerdict(Code(w[1]), text)
	if string(want[:verdictBody]) != string(w[:verdictBody]) {
		return 0, "", &ProtocolError{Reason: "sent a malformed verdict"}
	}
	return Code(w[1]), text, nil
}

// cutText cuts s to MaxText bytes, between two runes, and makes it safe to print: valid
// UTF-8 without control characters.
func cutText(s string) string { return cutTo(printable(s), MaxText) }

// printable makes s valid UTF-8 without control characters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
