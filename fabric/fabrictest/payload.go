package fabrictest

import (
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

// fill writes the payload of message i: every 8-byte word tells its place.
func fill(b []byte, i int) {
	for k := range b {
		b[k] = byteAt(i, k)
	}
}

func byteAt(i, k int) byte { return byte(i*31 + k + k>>8 + k>>16) }

// verify reports the first byte of a piece that is not that of message i.
func verify(i, off int, p []byte) error {
	for k, c := range p {
		if want := byteAt(i, off+k); c != want {
			return fmt.Errorf("message %d: byte %d is %#x, want %#x", i, off+k, c, want)
		}
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
