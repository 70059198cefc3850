package tcp_test

import (
	"bytes"
	"fmt"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/provider/tcp"
)

// TestRunsAhead sends messages of all lengths before the first is received, so that
// short ones come in with what follows them, be it short, long, empty or spread over
// several streams.
func TestRunsAhead(t *testing.T) {
	lengths := []int{0, 1, 8, 8, 1000, 4000, 8191, 8192, 8193, 0, 3, 33 << 10, 16, 70 << 10, 5, 600 << 10, 2, 0, 9}
	for _, streams := range []int{1, 3} {
		for _, sums := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d streams, checksums %v", streams, sums), func(t *testing.T) {
				fs := ranks(t, 2, "127.0.0.1", tcp.Config{Streams: streams, Checksum: sums})
				defer fs[0].Close()
				defer fs[1].Close()
				a, b := connect(t, fs[0], fs[1], 1)
				message := func(i int) (*fabric.Tag, []byte) {
					return &fabric.Tag{byte(i)}, bytes.Repeat([]byte{byte(i + 1)}, lengths[i])
				}
				// What fits into the sockets is there before anybody reads.
				begun, done := make(chan struct{}), make(chan error, 1)
				go func() {
					for i := range lengths {
						tag, buf := message(i)
						if i == 13 {
							close(begun)
						}
						if err := fabric.Send(t.Context(), a, tag, buf); err != nil {
							done <- fmt.Errorf("message %d: %w", i, err)
							return
						}
					}
					done <- nil
				}()
				select {
				case <-begun:
				case err := <-done:
					t.Fatal(err)
				}
				for i := range lengths {
					tag, want := message(i)
					got := make([]byte, len(want))
					var err error
					if i%3 == 2 {
						err = b.RecvFunc(t.Context(), tag, len(got), func(off int, p []byte) error {
							copy(got[off:], p)
							return nil
						})
					} else {
						err = b.Recv(t.Context(), tag, got)
					}
					if err != nil {
						t.Fatalf("message %d: %v", i, err)
					}
					if !bytes.Equal(got, want) {
						t.Fatalf("message %d of %d bytes is not what was sent", i, len(want))
					}
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}
