package tcp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/crc32c"
)

// FuzzFrame compares any header with an expectation: it is accepted only if it is
// the header of exactly that message, and blamed on the way only if it is damaged.
func FuzzFrame(f *testing.F) {
	var h [headerSize]byte
	frame(&h, &fabric.Tag{1, 2, 3}, 1000, 7)
	f.Add(h[:], 1000)
	f.Add(h[:], 1001)
	f.Add(make([]byte, headerSize), 0)
	f.Add([]byte{0xff}, 1<<40)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 0 {
			return
		}
		var got, want [headerSize]byte
		copy(got[:], b)
		tag := &fabric.Tag{1, 2, 3}
		frame(&want, tag, n, 0)
		err := check(&got, 5, tag, n)
		if (err == nil) != ([atSum]byte(got[:]) == [atSum]byte(want[:])) {
			t.Errorf("header %x for %d bytes: %v", got, n, err)
		}
		// What a peer would send with that tag and length.
		frame(&want, (*fabric.Tag)(got[:]), int(binary.LittleEndian.Uint64(got[atLength:])), binary.LittleEndian.Uint32(got[atSum:]))
		te, isTag := errors.AsType[*fabric.TagError](err)
		_, isCorrupt := errors.AsType[*fabric.CorruptError](err)
		if err != nil && (isTag != (got == want) || isCorrupt == isTag || isTag && te.Peer != 5) {
			t.Errorf("got %v, want a TagError about rank 5 if the header is whole, else a CorruptError", err)
		}
	})
}

// TestEveryBit: a header that differs from what is expected in one bit, or in the same
// bit of several words, is not taken, whatever the other bits are.
func TestEveryBit(t *testing.T) {
	for _, fill := range []byte{0, 0xff, 0xa5} {
		tag := fabric.Tag(bytes.Repeat([]byte{fill}, fabric.TagSize))
		const n = 0x0102_0304
		for bit := range 64 {
			for words := 1; words < 1<<5; words++ { // which of tag and length
				var h [headerSize]byte
				frame(&h, &tag, n, 0)
				if !expected(&h, &tag, n) {
					t.Fatal("the expected header is not taken")
				}
				for w := range 5 {
					if words&(1<<w) != 0 {
						h[8*w+bit/8] ^= 1 << (bit % 8)
					}
				}
				if expected(&h, &tag, n) {
					t.Fatalf("tag of %#x: taken though bit %d of words %05b differs", fill, bit, words)
				}
			}
		}
	}
}

// TestHeaderCheck: it is the sum that the format says.
func TestHeaderCheck(t *testing.T) {
	var h [headerSize]byte
	for i := range h {
		h[i] = byte(i*i + 3)
		if got, want := checkOf(&h), crc32c.Sum(h[:atCheck]); got != want {
			t.Fatalf("header %x: %#x, want %#x", h, got, want)
		}
	}
}

func TestParts(t *testing.T) {
	for _, n := range []int{StripeMin, StripeMin + 1, 12345678, 5 << 30} {
		for k := 1; k <= MaxStreams; k++ {
			at := 0
			for i := range k {
				from, to := part(n, i, k)
				if from != at || to < from || (to < n && to%fabric.PieceAlign != 0) {
					t.Fatalf("part %d of %d of %d bytes is [%d,%d), want it to start at %d", i, k, n, from, to, at)
				}
				at = to
			}
			if at != n {
				t.Fatalf("%d parts of %d bytes end at %d", k, n, at)
			}
		}
	}
}
