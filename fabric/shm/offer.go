package shm

import (
	"context"
	"encoding/binary"
	"errors"

	"thundercollective/fabric"
)

// An offer tells a peer where to find a segment. It travels over the bootstrap,
// which has authenticated both.
type offer struct {
	possible bool // false: there is nothing to find
	host     [36]byte
	pid, fd  uint32
	id       nonce
	proof    uint64 // where id lies in the process's memory, if that may be read; else 0
}

const offerSize = 1 + 36 + 4 + 4 + nonceSize + 8

// What travels on the bootstrap channels of this provider. The tag names the
// version: ranks that differ refuse each other's messages.
var (
	offerTag  = fabric.Tag{'s', 'h', 'm', ' ', 'o', 'f', 'f', 'e', 'r', ' ', '2'}
	answerTag = fabric.Tag{'s', 'h', 'm', ' ', 'a', 'n', 's', 'w', 'e', 'r', ' ', '2'}
)

func (o *offer) encode() []byte {
	b := make([]byte, 0, offerSize)
	if o.possible {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = append(b, o.host[:]...)
	b = binary.LittleEndian.AppendUint32(b, o.pid)
	b = binary.LittleEndian.AppendUint32(b, o.fd)
	b = append(b, o.id[:]...)
	return binary.LittleEndian.AppendUint64(b, o.proof)
}

func parseOffer(b []byte) (o offer) {
	o.possible = b[0] == 1
	copy(o.host[:], b[1:])
	o.pid = binary.LittleEndian.Uint32(b[37:])
	o.fd = binary.LittleEndian.Uint32(b[41:])
	copy(o.id[:], b[45:])
	o.proof = binary.LittleEndian.Uint64(b[45+nonceSize:])
	return o
}

func sendOffer(ctx context.Context, l fabric.Link, o offer) error {
	return l.Send(ctx, &offerTag, o.encode())
}

func recvOffer(ctx context.Context, l fabric.Link) (offer, error) {
	var b [offerSize]byte
	if err := l.Recv(ctx, &offerTag, b[:]); err != nil {
		return offer{}, err
	}
	return parseOffer(b[:]), nil
}

// An answer says whether an offer could be taken up.
type answer struct {
	trouble error // why not
	reads   bool  // the memory of the process could be read as well
}

// answerSize is how long an answer is: two bytes, and as much of the trouble as fits.
const answerSize = 128

func sendAnswer(ctx context.Context, l fabric.Link, a answer) error {
	var b [answerSize]byte
	if a.trouble != nil {
		b[0] = byte(copy(b[2:], a.trouble.Error()))
	}
	if a.reads {
		b[1] = 1
	}
	return l.Send(ctx, &answerTag, b[:])
}

func recvAnswer(ctx context.Context, l fabric.Link) (a answer, err error) {
	var b [answerSize]byte
	if err := l.Recv(ctx, &answerTag, b[:]); err != nil {
		return a, err
	}
	if n := min(int(b[0]), answerSize-2); n > 0 {
		a.trouble = errors.New(string(b[2 : 2+n]))
	}
	a.reads = b[1] == 1
	return a, nil
}
