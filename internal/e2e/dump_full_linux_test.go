package e2e_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/recorder"
)

// fullDiskVar makes TestDumpOnFullDisk do its work, in a process that has its mounts
// to itself.
const fullDiskVar = "THUNDER_TEST_FULL_DISK"

// TestDumpOnFullDisk has groups fail when there is no room for the flight recorder. The
// error of the job is what it would be, the log says once that there is no dump, and
// the last dump that was written is whole.
func TestDumpOnFullDisk(t *testing.T) {
	if os.Getenv(fullDiskVar) != "" {
		dumpOnFullDisk(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDumpOnFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), fullDiskVar+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM):
		t.Skipf("SKIPPED: needs a mount namespace of its own: %v", err)
	case err != nil || !bytes.Contains(out, []byte("--- PASS: TestDumpOnFullDisk")):
		t.Errorf("%v\n%s", err, out)
	}
}

func dumpOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Fatal(err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	var mu sync.Mutex
	var lines []string
	comms := memRanks(t, 2, thunder.Options{
		Diagnostics: thunder.Diagnostics{DumpDir: dir, Logger: logTo(func(line string) {
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(line, "flight recorder") {
				lines = append(lines, line)
			}
		})},
	})
	var groups [3][2]*thunder.Comm
	each(t, 2, func(r int) (err error) {
		for i := range groups {
			if groups[i][r], err = comms[r].Split(t.Context(), 0, r); err != nil {
				return err
			}
		}
		return nil
	})
	end := func(i int) {
		t.Helper()
		groups[i][0].Abort("enough")
		each(t, 2, func(r int) error {
			var abort *thunder.AbortError
			if err := thunder.Barrier(t.Context(), groups[i][r]); !errors.As(err, &abort) || abort.Reason != "enough" {
				t.Errorf("group %d, rank %d: got %v", i, r, err)
			}
			return nil
		})
	}
	end(0) // with room for its dump
	whole := readFiles(t, dir)
	for deadline := time.Now().Add(testLimit); !finished(whole) && time.Now().Before(deadline); whole = readFiles(t, dir) {
		time.Sleep(time.Millisecond)
	}
	for name, text := range whole {
		if _, err := recorder.Read(strings.NewReader(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(whole) != 2 {
		t.Fatalf("dumps of %v", slices.Collect(maps.Keys(whole)))
	}

	each(t, 2, func(r int) error {
		for range 1000 {
			if err := thunder.Barrier(t.Context(), comms[r]); err != nil {
				return err
			}
		}
		return nil
	})
	fill(t, filepath.Join(dir, "filler"))
	end(1)
	end(2)
	for _, c := range comms {
		c.Close() // when dumps are written, or not
	}
	mu.Lock()
	defer mu.Unlock()
	if len(lines) != 2 || !strings.Contains(lines[0], "no space left") || !strings.Contains(lines[1], "no space left") {
		t.Errorf("the log has %q, want one line a rank", lines)
	}
	got := readFiles(t, dir)
	delete(got, "filler")
	for name, text := range got {
		if text != whole[name] {
			t.Errorf("%s is new, and %d bytes long", name, len(text))
		}
	}
	if len(got) != len(whole) {
		t.Errorf("%d files, want %d", len(got), len(whole))
	}
}

// finished reports whether both ranks have their dumps, and none is being written.
func finished(files map[string]string) bool {
	for name := range files {
		if strings.HasPrefix(name, ".") {
			return false
		}
	}
	return len(files) == 2
}

// fill writes a file until there is no room.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, bytes.NewReader(make([]byte, 1<<20))); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk did not get full: %v", err)
	}
}

// readFiles returns everything in a folder.
func readFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range list {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if errors.Is(err, os.ErrNotExist) {
			continue // it has its name by now
		}
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	return files
}
