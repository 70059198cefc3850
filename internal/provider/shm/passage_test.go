package shm

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// sockets returns the two ends of a connection.
func sockets(t *testing.T) [2]*net.UnixConn {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*net.UnixConn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "")
		c, err := net.FileConn(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = c.(*net.UnixConn)
		t.Cleanup(func() { c.Close() })
	}
	return ends
}

// passages returns the two ends of a passage. Knocks at the second one go to the channel.
func passages(t *testing.T) (a, b *passage, knocks chan int) {
	t.Helper()
	ends, knocks := sockets(t), make(chan int, 10)
	a = newPassage(ends[0], func(int) {})
	b = newPassage(ends[1], func(bell int) { knocks <- bell })
	t.Cleanup(a.close)
	t.Cleanup(b.close)
	return a, b, knocks
}

// openFiles counts the files that this process has open.
func openFiles() (n int) {
	for fd := range 1 << 10 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			n++
		}
	}
	return n
}

func TestPass(t *testing.T) {
	a, b, knocks := passages(t)
	id := newNonce()
	segs := map[uint64]*segment{}
	for _, serial := range []uint64{5, 6, 7} {
		s, err := newSegment(int(serial)*1000, id, serial)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		s.body()[0] = byte(serial)
		segs[serial] = s
		if err := a.pass(serial, s); err != nil {
			t.Fatal(err)
		}
	}
	a.withdraw(6)
	a.knock(31)
	if bell := <-knocks; bell != 31 { // all before it has arrived, too
		t.Errorf("bell %d was knocked for", bell)
	}
	for _, serial := range []uint64{7, 5} { // in any order
		got, err := b.take(t.Context(), serial)
		if err != nil {
			t.Fatal(err)
		}
		seg, err := attach(got, int(serial)*1000, id, serial)
		if err != nil {
			t.Fatal(err)
		}
		if seg.body()[0] != byte(serial) {
			t.Errorf("segment %d is not shared", serial)
		}
		seg.close()
	}
	over, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	for _, serial := range []uint64{5, 6, 99} { // taken, withdrawn, never there
		if _, err := b.take(over, serial); !errors.Is(err, why) {
			t.Errorf("segment %d: %v", serial, err)
		}
	}
}

// TestPassageEnds: who waits for a file hears of the end of the peer, and files that nobody
// took are closed.
func TestPassageEnds(t *testing.T) {
	before := openFiles()
	a, b, knocks := passages(t)
	s, err := newSegment(100, newNonce(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for serial := range uint64(3) { // the last one replaces nothing
		if err := a.pass(serial%2, s); err != nil {
			t.Fatal(err)
		}
	}
	a.knock(0)
	<-knocks
	s.close()
	waits := make(chan error)
	go func() {
		_, err := b.take(context.Background(), 9)
		waits <- err
	}()
	a.close()
	if err := <-waits; err == nil {
		t.Error("a file came from nowhere")
	}
	if _, err := b.take(t.Context(), 9); err == nil {
		t.Error("a file came from nowhere, later")
	}
	if err := b.pass(2, &segment{fd: 0, mem: nil}); err == nil {
		t.Error("a file went nowhere without an error")
	}
	b.close()
	if after := openFiles(); after != before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

// TestStrangeRecords: a peer that says what makes no sense is not listened to any more.
func TestStrangeRecords(t *testing.T) {
	for name, r := range map[string]record{
		"a file that did not come": {kind: parcelSent, serial: 1},
		"an unknown kind":          {kind: 77},
	} {
		t.Run(name, func(t *testing.T) {
			ends := sockets(t)
			p := newPassage(ends[0], func(int) {})
			defer p.close()
			b := r.encode()
			if _, err := ends[1].Write(append(b[:], 0)); err != nil {
				t.Fatal(err)
			}
			if _, err := p.take(t.Context(), 1); err == nil {
				t.Error("no error")
			}
			if n, err := ends[1].Read(b[:]); err == nil {
				t.Errorf("the passage is still open, and says %d bytes", n)
			}
		})
	}
}

// TestRecordInPieces: sockets may cut what they carry anywhere.
func TestRecordInPieces(t *testing.T) {
	ends, knocks := sockets(t), make(chan int)
	p := newPassage(ends[0], func(bell int) { knocks <- bell })
	defer p.close()
	b := record{kind: knock, bell: 3}.encode()
	for i := range b {
		if _, err := ends[1].Write(b[i : i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if bell := <-knocks; bell != 3 {
		t.Errorf("bell %d was knocked for", bell)
	}
}
