package tcp_test

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"unsafe"

	"thundercollective/fabric"
	"thundercollective/internal/provider/tcp"
)

// TestManyShort has far more short messages under way than are read ahead at once, so
// that what has been read ends anywhere in one of them.
func TestManyShort(t *testing.T) {
	fs := ranks(t, 2, "127.0.0.1", tcp.Config{Streams: 1})
	defer fs[0].Close()
	defer fs[1].Close()
	a, b := connect(t, fs[0], fs[1], 1)
	const count = 2000
	message := func(i int) (*fabric.Tag, []byte) {
		return &fabric.Tag{byte(i), byte(i >> 8)}, bytes.Repeat([]byte{byte(i)}, i*i*13%8193)
	}
	sent := make(chan error, 1)
	go func() {
		for i := range count {
			tag, buf := message(i)
			if err := fabric.Send(t.Context(), a, tag, buf); err != nil {
				sent <- fmt.Errorf("message %d: %w", i, err)
				return
			}
		}
		sent <- nil
	}()
	for i := range count {
		tag, want := message(i)
		got := make([]byte, len(want))
		var err error
		if i%2 == 0 {
			err = b.Recv(t.Context(), tag, got)
		} else {
			err = b.RecvFunc(t.Context(), tag, len(got), func(off int, p []byte) error {
				if at := uintptr(unsafe.Pointer(unsafe.SliceData(p))); at%fabric.PieceAlign != 0 {
					return fmt.Errorf("a piece lies at %#x", at)
				}
				copy(got[off:], p)
				return nil
			})
		}
		if err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("message %d of %d bytes is not what was sent", i, len(want))
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	want := uint64(0)
	for i := range count {
		_, buf := message(i)
		want += uint64(len(buf))
	}
	if got := b.Traffic(); got.RecvMessages != count || got.RecvBytes != want {
		t.Errorf("counted %d messages of %d bytes, want %d of %d", got.RecvMessages, got.RecvBytes, count, want)
	}
}

// TestResetIsTheCause looks at a socket whose peer has died before anybody waits there:
// the kernel tells why once.
func TestResetIsTheCause(t *testing.T) {
	fs := ranks(t, 2, "127.0.0.1", tcp.Config{Streams: 1})
	defer fs[1].Close()
	_, b := connect(t, fs[0], fs[1], 1)
	fs[0].(*tcp.Fabric).Kill()
	err := b.Recv(t.Context(), &fabric.Tag{}, make([]byte, 8))
	if _, lost := errors.AsType[*fabric.LostError](err); !lost || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a lost peer and the reset as the cause", err)
	}
	if again := b.Recv(t.Context(), &fabric.Tag{}, make([]byte, 8)); again == nil {
		t.Error("the link works after that")
	}
}
