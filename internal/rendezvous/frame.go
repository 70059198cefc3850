package rendezvous

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"thundercollective/internal/rendezvous/handshake"
)

// After a handshake with PurposeJoin the two ends exchange frames: one byte for the
// kind, four bytes for the length, and that many bytes of JSON.
//
//	rank → coordinator   register
//	coordinator → rank   peer, once for each rank in order: the job is complete
//	                     or missing, stopped or refused: the job cannot start
const (
	maxFrame    = 64 << 10
	frameHeader = 5

	frameRegister uint8 = 1
	framePeer     uint8 = 2
	frameMissing  uint8 = 3
	frameStopped  uint8 = 4
	frameRefused  uint8 = 5
)

// A registration is what a rank tells the coordinator about itself.
type registration struct {
	Peer
	// Patience is how long the rank will wait. The coordinator gives up when the
	// first rank does, so that all ranks learn which ones are missing.
	Patience time.Duration `json:"patience"`
}

// check validates a registration and makes its addresses canonical.
func (r *registration) check() error {
	if len(r.Host) > 255 || r.Host != clip(r.Host) {
		return errors.New("the host name is longer than 255 bytes or not printable")
	}
	if !validMachine(r.Machine) {
		return fmt.Errorf("%q is not the id of a machine", clip(r.Machine))
	}
	if len(r.Addrs) == 0 || len(r.Addrs) > MaxRails {
		return fmt.Errorf("%d addresses; a rank has 1..%d", len(r.Addrs), MaxRails)
	}
	if r.Patience < 0 {
		return errors.New("negative patience")
	}
	for i, addr := range r.Addrs {
		e, err := dialable(addr)
		if err != nil {
			return fmt.Errorf("address %q %w", addr, err)
		}
		r.Addrs[i] = e.String()
	}
	return nil
}

// A refusal tells a rank why it cannot register.
type refusal struct {
	Code handshake.Code `json:"code"`
	Text string         `json:"text"`
}

// A stopped tells why the coordinator gave up, other than for missing ranks.
type stopped struct {
	Text string `json:"text"`
}

// maxText is the length limit of a message in a frame.
const maxText = 1000

// clip cuts a text to maxText bytes and makes it safe to print.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "")
}

// encodeFrame returns a frame as one slice, for a single write.
func encodeFrame(kind uint8, body any) ([]byte, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if len(b) > maxFrame {
		return nil, fmt.Errorf("frame of %d bytes; the limit is %d", len(b), maxFrame)
	}
	frame := make([]byte, frameHeader, frameHeader+len(b))
	frame[0] = kind
	binary.BigEndian.PutUint32(frame[1:], uint32(len(b)))
	return append(frame, b...), nil
}

// readFrame reads a frame. It allocates at most maxFrame bytes, and is used only on
// connections that passed the handshake.
func readFrame(r io.Reader) (kind uint8, body []byte, err error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, &frameError{fmt.Errorf("frame of %d bytes; the limit is %d", n, maxFrame)}
	}
	body = make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, fmt.Errorf("frame cut short: %w", err)
	}
	return head[0], body, nil
}

// decodeFrame decodes the body of a frame into v, a pointer.
func decodeFrame(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return &frameError{err}
	}
	return nil
}

// A frameError reports that an authenticated peer violates the protocol. Another
// attempt would not help.
type frameError struct{ err error }

func (e *frameError) Error() string { return "malformed frame: " + e.err.Error() }
func (e *frameError) Unwrap() error { return e.err }
