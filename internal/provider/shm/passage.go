package shm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// passTime is how long passing a file may take, although nobody has to do anything for
// it: a peer that reads nothing for so long is stopped, or as good as dead.
const passTime = 10 * time.Second

// A passage is the Unix socket that two ranks keep between them. The files of segments
// travel on it, each with its serial number, and knocks (see peerBell).
type passage struct {
	conn    *net.UnixConn
	knocked func(bell int)
	reader  sync.WaitGroup

	sending sync.Mutex // one record at a time
	out     [recordSize]byte

	mu      sync.Mutex
	parcels map[uint64]parcel // what has arrived and was not taken yet, by serial number
	news    chan struct{}     // closed, and replaced, when there is something new
	err     error             // why nothing more will arrive
}

// A parcel is the file of a segment.
type parcel struct {
	file int
	size int // of the whole segment
}

// What a record is about.
const (
	parcelSent      = iota + 1 // a file follows
	parcelWithdrawn            // nobody needs it any more
	knock                      // somebody may sleep
)

// A record is what travels on a passage. The file of a segment follows its record.
type record struct {
	kind   byte
	bell   byte
	serial uint64
	size   uint64
}

const recordSize = 18

func (r record) encode() (b [recordSize]byte) {
	b[0], b[1] = r.kind, r.bell
	binary.LittleEndian.PutUint64(b[2:], r.serial)
	binary.LittleEndian.PutUint64(b[10:], r.size)
	return b
}

func parseRecord(b *[recordSize]byte) record {
	return record{b[0], b[1], binary.LittleEndian.Uint64(b[2:]), binary.LittleEndian.Uint64(b[10:])}
}

// newPassage takes a connection over. knocked is called for each knock.
func newPassage(conn *net.UnixConn, knocked func(bell int)) *passage {
	p := &passage{conn: conn, knocked: knocked, parcels: map[uint64]parcel{}, news: make(chan struct{})}
	p.reader.Go(func() {
		err := p.read()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.err = err
		close(p.news)
	})
	return p
}

// pass sends the file of a segment. The segment has to stay listed until the peer has it.
func (p *passage) pass(serial uint64, s *segment) error {
	err := p.send(record{kind: parcelSent, serial: serial, size: uint64(len(s.mem))}, unix.UnixRights(s.fd))
	if err != nil {
		return fmt.Errorf("passing a file: %w", err)
	}
	return nil
}

// withdraw tells the peer not to map a segment any more. If that fails, the peer keeps a
// file open for longer than it has to.
func (p *passage) withdraw(serial uint64) {
	_ = p.send(record{kind: parcelWithdrawn, serial: serial}, nil)
}

// knock makes the peer look at one of its bells. If that fails the peer is gone, which is
// noticed elsewhere.
func (p *passage) knock(bell int) { _ = p.send(record{kind: knock, bell: byte(bell)}, nil) }

// send sends a record, and what comes with it.
func (p *passage) send(r record, rights []byte) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	p.out = r.encode()
	err := p.conn.SetWriteDeadline(time.Now().Add(passTime))
	if err == nil {
		_, err = p.conn.Write(p.out[:])
	}
	if err == nil && rights != nil {
		_, _, err = p.conn.WriteMsgUnix(p.out[:1], rights, nil)
	}
	if err != nil {
		p.conn.Close() // what follows could not be understood
	}
	return err
}

// read receives records for as long as there is a connection.
func (p *passage) read() error {
	defer p.conn.Close()
	var b [recordSize]byte
	for {
		if _, err := io.ReadFull(p.conn, b[:]); err != nil {
			return err
		}
		if err := p.handle(parseRecord(&b)); err != nil {
			return err
		}
	}
}

// handle acts on a record.
func (p *passage) handle(r record) error {
	switch r.kind {
	case parcelSent:
		file, err := p.readFile()
		if err != nil {
			return err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.drop(r.serial)
		p.parcels[r.serial] = parcel{file: file, size: int(r.size)}
		close(p.news)
		p.news = make(chan struct{})
	case parcelWithdrawn:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.drop(r.serial)
	case knock:
		p.knocked(int(r.bell))
	default:
		return fmt.Errorf("a record of kind %d", r.kind)
	}
	return nil
}

// readFile receives the file that follows a record, with a byte of its own: a file that
// comes with what is read in any other way is lost.
func (p *passage) readFile() (int, error) {
	var b [1]byte
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := p.conn.ReadMsgUnix(b[:], rights)
	files := filesIn(rights[:n])
	if err == nil && len(files) == 1 {
		return files[0], nil
	}
	for _, f := range files {
		unix.Close(f)
	}
	return -1, errors.Join(err, errors.New("the file of a segment did not arrive: are too many files open?"))
}

// drop closes a file that was not taken, if it is there.
func (p *passage) drop(serial uint64) {
	if old, ok := p.parcels[serial]; ok {
		unix.Close(old.file)
		delete(p.parcels, serial)
	}
}

// filesIn returns the files that came with a record.
func filesIn(rights []byte) (files []int) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil
	}
	for i := range messages {
		if some, err := unix.ParseUnixRights(&messages[i]); err == nil {
			files = append(files, some...)
		}
	}
	return files
}

// take waits for the file of a segment. The caller closes it.
func (p *passage) take(ctx context.Context, serial uint64) (parcel, error) {
	late := time.NewTimer(passTime)
	defer late.Stop()
	for {
		p.mu.Lock()
		found, ok := p.parcels[serial]
		delete(p.parcels, serial)
		news, err := p.news, p.err
		p.mu.Unlock()
		switch {
		case ok:
			return found, nil
		case err != nil:
			return parcel{}, fmt.Errorf("no more files from the peer: %w", err)
		}
		select {
		case <-news:
		case <-ctx.Done():
			return parcel{}, context.Cause(ctx)
		case <-late.C:
			return parcel{}, fmt.Errorf("the peer's file did not arrive within %v", passTime)
		}
	}
}

// close ends the passage, and what was not taken.
func (p *passage) close() {
	p.conn.Close()
	p.reader.Wait()
	for serial := range p.parcels {
		p.drop(serial)
	}
}

// closeIfAny closes the passage that there may be.
func (p *passage) closeIfAny() {
	if p != nil {
		p.close()
	}
}
