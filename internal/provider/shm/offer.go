package shm

import (
	"context"
	"encoding/binary"
	"errors"

	"thundercollective/fabric"
)

// An offer tells a peer about a segment whose file it is passed. It travels over the
// bootstrap, which has authenticated both, or over links.
type offer struct {
	possible bool // false: there is no segment
	portable bool // see Config
	host     [36]byte
	serial   uint64
	id       nonce
	proof    uint64 // where id lies in the process's memory, if that may be read; else 0
}

const offerSize = 1 + 36 + 8 + nonceSize + 8

// The bits that an offer begins with.
const (
	offerPossible = 1 << iota
	offerPortable
)

// What travels on the bootstrap channels of this provider. The tag names the
// version: ranks that differ refuse each other's messages.
var (
	offerTag  = fabric.Tag{'s', 'h', 'm', ' ', 'o', 'f', 'f', 'e', 'r', ' ', '3'}
	answerTag = fabric.Tag{'s', 'h', 'm', ' ', 'a', 'n', 's', 'w', 'e', 'r', ' ', '3'}
	doorTag   = fabric.Tag{'s', 'h', 'm', ' ', 'd', 'o', 'o', 'r', ' ', '3'}
)

func (o *offer) encode() []byte {
	b := make([]byte, 1, offerSize)
	if o.possible {
		b[0] |= offerPossible
	}
	if o.portable {
		b[0] |= offerPortable
	}
	b = append(b, o.host[:]...)
	b = binary.LittleEndian.AppendUint64(b, o.serial)
	b = append(b, o.id[:]...)
	return binary.LittleEndian.AppendUint64(b, o.proof)
}

func parseOffer(b []byte) (o offer) {
	o.possible, o.portable = b[0]&offerPossible != 0, b[0]&offerPortable != 0
	copy(o.host[:], b[1:])
	o.serial = binary.LittleEndian.Uint64(b[37:])
	copy(o.id[:], b[45:])
	o.proof = binary.LittleEndian.Uint64(b[45+nonceSize:])
	return o
}

func sendOffer(ctx context.Context, l fabric.Link, o offer) error {
	return fabric.Send(ctx, l, &offerTag, o.encode())
}

func recvOffer(ctx context.Context, l fabric.Link) (offer, error) {
	var b [offerSize]byte
	if err := l.Recv(ctx, &offerTag, b[:]); err != nil {
		return offer{}, err
	}
	return parseOffer(b[:]), nil
}

// A note is a few words, and yes or no.
type note struct {
	text string
	yes  bool
}

// noteSize is how long a note is: two bytes, and as much of the text as fits.
const noteSize = 128

func sendNote(ctx context.Context, l fabric.Link, tag *fabric.Tag, n note) error {
	var b [noteSize]byte
	b[0] = byte(copy(b[2:], n.text))
	if n.yes {
		b[1] = 1
	}
	return fabric.Send(ctx, l, tag, b[:])
}

func recvNote(ctx context.Context, l fabric.Link, tag *fabric.Tag) (note, error) {
	var b [noteSize]byte
	if err := l.Recv(ctx, tag, b[:]); err != nil {
		return note{}, err
	}
	return note{string(b[2 : 2+min(int(b[0]), noteSize-2)]), b[1] == 1}, nil
}

// An answer tells whether an offer could be taken up.
type answer struct {
	trouble error // why not
	reads   bool  // the memory of the process could be read as well
}

func sendAnswer(ctx context.Context, l fabric.Link, a answer) error {
	n := note{yes: a.reads}
	if a.trouble != nil {
		n.text = a.trouble.Error()
	}
	return sendNote(ctx, l, &answerTag, n)
}

func recvAnswer(ctx context.Context, l fabric.Link) (answer, error) {
	n, err := recvNote(ctx, l, &answerTag)
	a := answer{reads: n.yes}
	if n.text != "" {
		a.trouble = errors.New(n.text)
	}
	return a, err
}
