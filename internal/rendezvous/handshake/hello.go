package handshake

import (
	"encoding/binary"
	"fmt"
)

// Version is the protocol version that this package speaks. Ranks of different versions
// refuse each other.
const Version = 2

// magic starts the first message of either end. Its first byte is not ASCII, so a peer
// that speaks a text protocol is recognised at its first byte.
const magic = "\xf4thunder"

const (
	nonceSize = 24
	macSize   = 32
	headSize  = len(magic) + 4 // magic, version, kind, purpose
	helloSize = 68
)

// Purposes of a connection.
const (
	PurposeLink  uint8 = 1 // a stream of a link between two ranks
	PurposeJoin  uint8 = 2 // a rank joins the job at the coordinator
	PurposeRail  uint8 = 3 // a stream on one rail of a link over several rails
	PurposeRelay uint8 = 4 // the acceptor relays to the rank in Channel
)

// A Hello tells the acceptor who dials and why. The MACs cover all of it, but nothing
// in it may be trusted before Accept has called admit with it.
type Hello struct {
	Purpose    uint8
	Generation uint32 // of the job; an earlier one is left over from before a restart
	From       uint32 // rank of the dialer
	To         uint32 // rank of the acceptor
	Size       uint32 // number of ranks, according to the dialer
	Channel    uint32 // channel of the link (PurposeLink)
	Stream     uint16 // number of this stream in the link (PurposeLink)
	Streams    uint8  // how many streams the dialer opens (PurposeLink)
	Settings   uint8  // what both ends must share (PurposeLink, PurposeRail); opaque to this package
	Roster     uint64 // Sum of the dialer's Roster; 0 if it has none
}

type (
	nonce     [nonceSize]byte
	helloWire [helloSize]byte
)

// Kinds of message. They prevent that one message is mistaken for another, as when a
// connection leads back to its own dialer.
const (
	kindHello uint8 = 1 + iota
	kindChallenge
	kindProof
	kindRefusal
	kindVerdict
)

func encodeHello(h Hello, n nonce) helloWire {
	var w helloWire
	putHead(w[:], kindHello, h.Purpose)
	be := binary.BigEndian
	be.PutUint32(w[12:], h.Generation)
	be.PutUint32(w[16:], h.From)
	be.PutUint32(w[20:], h.To)
	be.PutUint32(w[24:], h.Size)
	be.PutUint32(w[28:], h.Channel)
	be.PutUint16(w[32:], h.Stream)
	w[34], w[35] = h.Settings, h.Streams
	be.PutUint64(w[36:], h.Roster)
	copy(w[44:], n[:])
	return w
}

// parseHello is the inverse of encodeHello. Its errors have no address yet.
func parseHello(w *helloWire) (Hello, *ProtocolError) {
	if err := checkHead(w[:], kindHello); err != nil {
		return Hello{}, err
	}
	be := binary.BigEndian
	h := Hello{
		Purpose:    w[11],
		Generation: be.Uint32(w[12:]),
		From:       be.Uint32(w[16:]),
		To:         be.Uint32(w[20:]),
		Size:       be.Uint32(w[24:]),
		Channel:    be.Uint32(w[28:]),
		Stream:     be.Uint16(w[32:]),
		Settings:   w[34],
		Streams:    w[35],
		Roster:     be.Uint64(w[36:]),
	}
	if h.Purpose < PurposeLink || h.Purpose > PurposeRelay {
		return Hello{}, &ProtocolError{Reason: fmt.Sprintf("asks for the unknown purpose %d", h.Purpose)}
	}
	return h, nil
}

func putHead(b []byte, kind, purpose uint8) {
	copy(b, magic)
	binary.BigEndian.PutUint16(b[8:], Version)
	b[10] = kind
	b[11] = purpose
}

// checkHead checks the first headSize bytes from a peer.
func checkHead(b []byte, kind uint8) *ProtocolError {
	if string(b[:len(magic)]) != magic {
		return strangerError(b[:headSize])
	}
	if v := binary.BigEndian.Uint16(b[8:]); v != Version {
		return &ProtocolError{
			Version: v,
			Reason: fmt.Sprintf("speaks version %d of the thunder protocol, this rank version %d; "+
				"run the same release on all ranks", v, Version),
		}
	}
	switch got := b[10]; {
	case got == kind:
		return nil
	case got == kindHello:
		return &ProtocolError{Reason: "is this rank itself: the connection leads back, nothing listens there"}
	default:
		return &ProtocolError{Reason: fmt.Sprintf("sent message kind %d first, want %d", got, kind)}
	}
}
