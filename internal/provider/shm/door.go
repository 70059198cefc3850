package shm

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"thundercollective/fabric"
)

// doorPrefix is what the names of doors begin with; the number of the process follows.
const doorPrefix = "thunder-door-"

// longestDoor is the longest path that a Unix socket may have on every system.
const longestDoor = 103

// helloTime is how long one who has come may take to say who it is. The peer has said so
// before it told us that it came.
const helloTime = time.Second

// A door is a Unix socket at which one peer is expected.
type door struct{ *net.UnixListener }

// openDoor makes a door under a name that nobody can guess. If nameless, nothing of it is
// in a file system; otherwise it is in the folder for temporary files as long as it is
// open. A process that is killed in that moment leaves it there, for the next one that
// opens a door there.
func openDoor(nameless bool) (door, error) {
	var random [16]byte
	rand.Read(random[:])
	name := doorPrefix + strconv.Itoa(os.Getpid()) + "-" + hex.EncodeToString(random[:])
	if nameless {
		name = "@" + name
	} else {
		dir := os.TempDir()
		if len(dir)+1+len(name) > longestDoor {
			dir = "/tmp"
		}
		sweepDoors(dir)
		name = filepath.Join(dir, name)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	return door{l}, err
}

// sweepDoors removes the doors of processes that have ended.
func sweepDoors(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, doorPrefix+"*"))
	for _, name := range names {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(name), doorPrefix), "-")
		if pid, err := strconv.Atoi(owner); err == nil && pid > 0 && unix.Kill(pid, 0) == unix.ESRCH {
			_ = os.Remove(name) // it may be somebody else's
		}
	}
}

// admit returns the connection of the peer, which has dialled already and sends theirs.
// Connections that send anything else are closed.
func (d door) admit(ctx context.Context, mine, theirs nonce) (*net.UnixConn, error) {
	if err := d.SetDeadline(time.Now().Add(passTime)); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { d.SetDeadline(longAgo) })()
	for {
		conn, err := d.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if err = conn.SetDeadline(time.Now().Add(helloTime)); err == nil {
			err = hear(ctx, conn, theirs)
		}
		if err == nil {
			_, err = conn.Write(mine[:])
		}
		if err == nil {
			return conn, conn.SetDeadline(time.Time{})
		}
		conn.Close()
	}
}

// knockAt goes to the peer's door.
func knockAt(name string, mine nonce) (*net.UnixConn, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err = conn.SetDeadline(time.Now().Add(passTime)); err == nil {
		_, err = conn.Write(mine[:])
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// longAgo is a deadline that ends a call under way.
var longAgo = time.Unix(1, 0)

// hear reads what proves who the other end is.
func hear(ctx context.Context, conn *net.UnixConn, want nonce) error {
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(longAgo) })()
	var got nonce
	if _, err := io.ReadFull(conn, got[:]); err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return errors.New("somebody else is at the other end")
	}
	return nil
}

// An introduction is how two ranks that have heard of each other over the bootstrap get a
// Unix socket between them. trouble is why there is none, which both then know; err that
// the peer cannot be reached at all.
type introduction struct {
	ctx          context.Context
	boot         fabric.Link
	mine, theirs nonce
	portable     bool
}

// connect returns this end of the socket. The lower rank opens the door.
func (in *introduction) connect(lower bool) (conn *net.UnixConn, trouble, err error) {
	if lower {
		conn, trouble, err = in.receive()
	} else {
		conn, trouble, err = in.visit()
	}
	if trouble != nil {
		trouble = fmt.Errorf("no socket joins the two: %w", trouble)
	}
	return conn, trouble, err
}

// receive opens a door, tells the peer where, and lets it in; and another one if the peer
// cannot come there.
func (in *introduction) receive() (conn *net.UnixConn, trouble, err error) {
	for _, nameless := range []bool{true, false} {
		if nameless && in.portable {
			continue
		}
		d, closed := openDoor(nameless)
		if closed != nil {
			trouble = closed
			continue
		}
		conn, trouble, err = in.receiveAt(d)
		d.Close()
		if trouble == nil || err != nil {
			return conn, nil, err
		}
	}
	return nil, trouble, sendNote(in.ctx, in.boot, &doorTag, note{text: trouble.Error()})
}

func (in *introduction) receiveAt(d door) (conn *net.UnixConn, trouble, err error) {
	if err := sendNote(in.ctx, in.boot, &doorTag, note{text: d.Addr().String(), yes: true}); err != nil {
		return nil, nil, err
	}
	came, err := recvNote(in.ctx, in.boot, &doorTag)
	switch {
	case err != nil:
		return nil, nil, err
	case !came.yes:
		return nil, errors.New(came.text), nil
	}
	conn, trouble = d.admit(in.ctx, in.mine, in.theirs)
	return conn, trouble, nil
}

// visit goes to the doors that the peer opens, until it gets in.
func (in *introduction) visit() (conn *net.UnixConn, trouble, err error) {
	for {
		where, err := recvNote(in.ctx, in.boot, &doorTag)
		switch {
		case err != nil:
			return nil, nil, err
		case !where.yes:
			return nil, errors.New(where.text), nil
		}
		came := note{yes: true}
		conn, trouble := knockAt(where.text, in.mine)
		if trouble != nil {
			came = note{text: trouble.Error()}
		}
		err = sendNote(in.ctx, in.boot, &doorTag, came)
		if err == nil && trouble == nil && hear(in.ctx, conn, in.theirs) == nil {
			return conn, nil, conn.SetDeadline(time.Time{})
		}
		if conn != nil {
			conn.Close() // it was not let in
		}
		if err != nil {
			return nil, nil, err
		}
	}
}
