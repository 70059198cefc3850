package fabrictest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"thundercollective/fabric"
)

// tagOf numbers messages.
func tagOf(i int) *fabric.Tag {
	var t fabric.Tag
	binary.LittleEndian.PutUint64(t[:], uint64(i))
	t[fabric.TagSize-1] = 0xa5
	return &t
}

// fill writes the payload of message i: bytes that tell their place.
func fill(b []byte, i int) {
	for k := 0; k < len(b); {
		k += copy(b[k:], expected(i, k))
	}
}

func byteAt(i, k int) byte { return byte(i*31 + k + k>>8 + k>>16) }

// ramp is what the payload of any message consists of, in parts of up to 256 bytes.
var ramp = func() (b [512]byte) {
	for k := range b {
		b[k] = byte(k)
	}
	return b
}()

// expected returns the payload of message i from byte k on, up to a multiple of 256.
func expected(i, k int) []byte {
	return ramp[byteAt(i, k):][:256-k%256]
}

// verify reports the first byte of a piece that is not that of message i.
func verify(i, off int, p []byte) error {
	for len(p) > 0 {
		want := expected(i, off)
		n := min(len(want), len(p))
		if !bytes.Equal(p[:n], want[:n]) {
			for k, c := range p[:n] {
				if want := byteAt(i, off+k); c != want {
					return fmt.Errorf("message %d: byte %d is %#x, want %#x", i, off+k, c, want)
				}
			}
		}
		off, p = off+n, p[n:]
	}
	return nil
}

// recvPieces receives message i through RecvFunc and checks content, coverage
// and alignment of the pieces.
func recvPieces(ctx context.Context, l fabric.Link, i, n int) error {
	var mu sync.Mutex
	covered := 0
	seen := map[int]int{}
	err := l.RecvFunc(ctx, tagOf(i), n, func(off int, p []byte) error {
		mu.Lock()
		defer mu.Unlock()
		if off%fabric.PieceAlign != 0 {
			return fmt.Errorf("message %d: piece at %d is not aligned to %d", i, off, fabric.PieceAlign)
		}
		if _, dup := seen[off]; dup || off < 0 || off+len(p) > n || len(p) == 0 {
			return fmt.Errorf("message %d: piece [%d,%d) of %d is a duplicate or out of range", i, off, off+len(p), n)
		}
		seen[off] = len(p)
		covered += len(p)
		return verify(i, off, p)
	})
	if err != nil {
		return err
	}
	if covered != n {
		return fmt.Errorf("message %d: pieces cover %d bytes of %d", i, covered, n)
	}
	return nil
}

// recvWhole receives message i through Recv and checks its content.
func recvWhole(ctx context.Context, l fabric.Link, i int, b []byte) error {
	if err := l.Recv(ctx, tagOf(i), b); err != nil {
		return err
	}
	return verify(i, 0, b)
}
