package rails

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A greeting is what the dialler sends first on a stream: which link it belongs to,
// which of its streams it is, and between which addresses its rail runs.
type greeting struct {
	link            uint64 // random, chosen by the dialler; differs for each link
	stream, streams uint16
	sums            bool   // payloads carry checksums
	near, far       string // as the dialler sees them
}

const (
	greetingMagic = 0x7468_7261 // "thra"
	nameSize      = 64
	greetingSize  = 4 + 8 + 4 + 2*nameSize + 1
	maxReply      = 512
)

// A PairError reports that the two ends of a stream do not agree on its rail.
type PairError struct{ Reason string }

func (e *PairError) Error() string { return "rails do not match: " + e.Reason }

func (g *greeting) write(w io.Writer) error {
	var b [greetingSize]byte
	le := binary.LittleEndian
	le.PutUint32(b[0:], greetingMagic)
	le.PutUint64(b[4:], g.link)
	le.PutUint16(b[12:], g.stream)
	le.PutUint16(b[14:], g.streams)
	copy(b[16:16+nameSize], g.near)
	copy(b[16+nameSize:16+2*nameSize], g.far)
	if g.sums {
		b[greetingSize-1] = 1
	}
	_, err := w.Write(b[:])
	return err
}

func readGreeting(r io.Reader) (g greeting, err error) {
	var b [greetingSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return g, err
	}
	le := binary.LittleEndian
	if le.Uint32(b[0:]) != greetingMagic {
		return g, &PairError{"the other end did not start with a greeting"}
	}
	g.link = le.Uint64(b[4:])
	g.stream, g.streams = le.Uint16(b[12:]), le.Uint16(b[14:])
	g.near = strings.TrimRight(string(b[16:16+nameSize]), "\x00")
	g.far = strings.TrimRight(string(b[16+nameSize:16+2*nameSize]), "\x00")
	g.sums = b[greetingSize-1] == 1
	return g, nil
}

// writeReply answers a greeting. A nil refusal accepts it.
func writeReply(w io.Writer, refusal error) error {
	text := ""
	if refusal != nil {
		text = refusal.Error()
		if pair, ok := errors.AsType[*PairError](refusal); ok {
			text = pair.Reason
		}
		text = text[:min(len(text), maxReply)]
	}
	b := binary.LittleEndian.AppendUint16(nil, uint16(len(text)))
	_, err := w.Write(append(b, text...))
	return err
}

// readReply returns nil if the acceptor accepted the greeting, and its refusal as a
// *PairError.
func readReply(r io.Reader) error {
	var b [2]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return err
	}
	n := int(binary.LittleEndian.Uint16(b[:]))
	switch {
	case n == 0:
		return nil
	case n > maxReply:
		return &PairError{fmt.Sprintf("the reply to a greeting is %d bytes long", n)}
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return err
	}
	return &PairError{string(text)}
}
