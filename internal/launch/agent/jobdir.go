package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const jobDirPrefix = "thunder-job-"

// A jobDir is the directory of a job's files. Its lock is held as long as the agent lives,
// however it ends.
type jobDir struct {
	path string
	lock *os.File
}

// newJobDir creates a directory that only the user can enter, and removes those of agents
// that were killed before they could remove them.
func newJobDir() (*jobDir, error) {
	removeStale()
	// It gets its final name after it is locked, so that no other agent takes it for stale.
	tmp, err := os.MkdirTemp("", "thunder-new-")
	if err != nil {
		return nil, err
	}
	f := &jobDir{path: filepath.Join(filepath.Dir(tmp), jobDirPrefix+strings.TrimPrefix(filepath.Base(tmp), "thunder-new-"))}
	f.lock, err = lockFile(filepath.Join(tmp, "lock"), os.O_CREATE)
	if err == nil {
		err = os.Rename(tmp, f.path)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	return f, nil
}

// remove removes the directory and then releases its lock.
func (f *jobDir) remove() {
	os.RemoveAll(f.path)
	f.lock.Close()
}

// lockFile opens a file and locks it. It fails if another process has locked it.
func lockFile(name string, flag int) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func removeStale() {
	stale, _ := filepath.Glob(filepath.Join(os.TempDir(), jobDirPrefix+"*"))
	for _, path := range stale {
		// The directory of another user cannot be opened.
		if lock, err := lockFile(filepath.Join(path, "lock"), 0); err == nil {
			os.RemoveAll(path)
			lock.Close()
		}
	}
}
