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
}

const offerSize = 1 + 36 + 4 + 4 + nonceSize

// What travels on the bootstrap channels of this provider. The tag names the
// version: ranks that differ refuse each other's messages.
var (
	offerTag  = fabric.Tag{'s', 'h', 'm', ' ', 'o', 'f', 'f', 'e', 'r', ' ', '1'}
	answerTag = fabric.Tag{'s', 'h', 'm', ' ', 'a', 'n', 's', 'w', 'e', 'r', ' ', '1'}
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
	return append(b, o.id[:]...)
}

func parseOffer(b []byte) (o offer) {
	o.possible = b[0] == 1
	copy(o.host[:], b[1:])
	o.pid = binary.LittleEndian.Uint32(b[37:])
	o.fd = binary.LittleEndian.Uint32(b[41:])
	copy(o.id[:], b[45:])
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

// sendAnswer says whether an offer could be taken up, and why not.
func sendAnswer(ctx context.Context, l fabric.Link, trouble error) error {
	var b [answerSize]byte
	if trouble != nil {
		n := copy(b[1:], trouble.Error())
		b[0] = byte(n)
	}
	return l.Send(ctx, &answerTag, b[:])
}

const answerSize = 128

// recvAnswer returns what the peer said in trouble.
func recvAnswer(ctx context.Context, l fabric.Link) (trouble, err error) {
	var b [answerSize]byte
	if err := l.Recv(ctx, &answerTag, b[:]); err != nil {
		return nil, err
	}
	if n := min(int(b[0]), answerSize-1); n > 0 {
		return errors.New(string(b[1 : 1+n])), nil
	}
	return nil, nil
}
