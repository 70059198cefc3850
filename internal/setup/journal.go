package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
)

// A Journal records what setup changes on this machine, and the state before. It is
// written to disk before the change is made.
type Journal struct {
	OS    string        `json:"os"`
	Ports []JournalPort `json:"ports"`
	Files []JournalFile `json:"files,omitempty"`
	Plan  *Plan         `json:"plan,omitempty"` // the last applied plan
	path  string
}

// A JournalPort is an interface that setup changes.
type JournalPort struct {
	Before State        `json:"before"`
	Added  netip.Prefix `json:"added"` // its new address
}

// A JournalFile is a file that setup writes.
type JournalFile struct {
	Path     string `json:"path"`
	Existed  bool   `json:"existed"`
	Previous []byte `json:"previous,omitempty"`
	Mode     uint32 `json:"mode,omitempty"`
}

const journalName = "setup.json"

// DefaultStateDir returns the usual directory of the journal.
func DefaultStateDir(system string) string {
	if system == "darwin" {
		return "/Library/Application Support/thundercollective"
	}
	return "/var/lib/thundercollective"
}

// readJournal reads the journal in a directory. If there is none, it returns an empty
// one.
func readJournal(dir, system string) (*Journal, error) {
	j := &Journal{OS: system, path: filepath.Join(dir, journalName)}
	b, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	if err := json.Unmarshal(b, j); err != nil {
		return nil, fmt.Errorf("read journal %s: %w", j.path, err)
	}
	return j, nil
}

// save writes the journal to disk atomically and durably.
func (j *Journal) save() error {
	b, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(j.path), 0o755); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if err := writeDurably(j.path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

// writeDurably replaces a file atomically and waits until it is on disk.
func writeDurably(path string, b []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".thunder-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // renamed if all went well
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// port returns the entry for an interface, or nil.
func (j *Journal) port(itf string) *JournalPort {
	for i := range j.Ports {
		if j.Ports[i].Before.Interface == itf {
			return &j.Ports[i]
		}
	}
	return nil
}

func (j *Journal) file(path string) *JournalFile {
	for i := range j.Files {
		if j.Files[i].Path == path {
			return &j.Files[i]
		}
	}
	return nil
}

func (j *Journal) empty() bool { return len(j.Ports) == 0 && len(j.Files) == 0 }
