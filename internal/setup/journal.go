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

// A Journal is what setup has changed on this machine and how it was before. It
// is on disk before the change is made.
type Journal struct {
	OS    string        `json:"os"`
	Ports []JournalPort `json:"ports"`
	Files []JournalFile `json:"files,omitempty"`
	Plan  *Plan         `json:"plan,omitempty"` // the last one applied
	path  string
}

// A JournalPort is an interface that was, or was about to be, changed.
type JournalPort struct {
	Before State        `json:"before"`
	Added  netip.Prefix `json:"added"` // the address it was given
}

// A JournalFile is a file that was, or was about to be, written.
type JournalFile struct {
	Path     string `json:"path"`
	Existed  bool   `json:"existed"`
	Previous []byte `json:"previous,omitempty"`
	Mode     uint32 `json:"mode,omitempty"`
}

const journalName = "setup.json"

// DefaultStateDir is where the journal lives.
func DefaultStateDir(system string) string {
	if system == "darwin" {
		return "/Library/Application Support/thundercollective"
	}
	return "/var/lib/thundercollective"
}

// readJournal reads the journal of a state directory; none is an empty one.
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

// save writes the journal so that it is either the old or the new one, and on
// disk, when it returns.
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

// writeDurably replaces a file in one step.
func writeDurably(path string, b []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".thunder-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
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

// port returns the entry of an interface, or nil.
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
