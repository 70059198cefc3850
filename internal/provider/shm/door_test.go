package shm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// doorKinds are the kinds of doors that this system has, by whether they are nameless.
func doorKinds() map[string]bool {
	kinds := map[string]bool{"named": false}
	if runtime.GOOS == "linux" {
		kinds["nameless"] = true
	}
	return kinds
}

func TestDoor(t *testing.T) {
	for kind, nameless := range doorKinds() {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			d, err := openDoor(nameless)
			if err != nil {
				t.Fatal(err)
			}
			mine, theirs := newNonce(), newNonce()
			silent, err := net.Dial("unix", d.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer silent.Close()
			if _, err := knockAt(d.Addr().String(), newNonce()); err != nil { // a stranger
				t.Fatal(err)
			}
			peer, err := knockAt(d.Addr().String(), theirs)
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Close()
			conn, err := d.admit(t.Context(), mine, theirs)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := hear(t.Context(), peer, mine); err != nil {
				t.Errorf("the peer at the door: %v", err)
			}
			d.Close()
			if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) > 0 {
				t.Errorf("left behind: %v", names)
			}
		})
	}
}

// TestDoorGivenUp: nobody comes, and nobody waits for it any more.
func TestDoorGivenUp(t *testing.T) {
	d, err := openDoor(false)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	quiet, err := net.Dial("unix", d.Addr().String()) // says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer quiet.Close()
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error)
	go func() {
		_, err := d.admit(ctx, newNonce(), newNonce())
		waits <- err
	}()
	cancel()
	if err := <-waits; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestSweepDoors: the doors of processes that were killed go, others stay.
func TestSweepDoors(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	stays := map[string]bool{
		fmt.Sprintf("%s%d-aa", doorPrefix, ended.Process.Pid): false,
		fmt.Sprintf("%s%d-bb", doorPrefix, os.Getpid()):       true,
		doorPrefix + "x-cc": true,
		"other":             true,
	}
	for name := range stays {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sweepDoors(dir)
	for name, want := range stays {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLongFolder: a folder whose name is too long for a socket does not matter.
func TestLongFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), fmt.Sprintf("%0100d", 0))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	d, err := openDoor(false)
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
}
