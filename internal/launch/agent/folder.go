package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const folderPrefix = "thunder-job-"

// A folder is where a job's files are. Its lock is held for as long as the agent
// lives, however it dies.
type folder struct {
	path string
	lock *os.File
}

// newFolder makes a folder that only the user can enter, and removes those whose
// agents were killed before they could.
func newFolder() (*folder, error) {
	removeStale()
	// It gets its name when it is locked, so that nobody takes it for stale.
	tmp, err := os.MkdirTemp("", "thunder-new-")
	if err != nil {
		return nil, err
	}
	f := &folder{path: filepath.Join(filepath.Dir(tmp), folderPrefix+strings.TrimPrefix(filepath.Base(tmp), "thunder-new-"))}
	f.lock, err = lockFile(filepath.Join(tmp, "lock"), os.O_CREATE)
	if err == nil {
		err = os.Rename(tmp, f.path)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	return f, nil
}

// remove removes the folder and lets go of its lock, in this order.
func (f *folder) remove() {
	os.RemoveAll(f.path)
	f.lock.Close()
}

// lockFile opens a file and locks it, or fails when somebody else has.
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
	stale, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	for _, path := range stale {
		// Another user's cannot be opened.
		if lock, err := lockFile(filepath.Join(path, "lock"), 0); err == nil {
			os.RemoveAll(path)
			lock.Close()
		}
	}
}
