package probe

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A store holds captured files. Names are clean relative slash paths.
type store interface {
	readFile(name string) ([]byte, error)
	readDir(name string) ([]string, error)
	readLink(name string) (string, error)
}

// A dirStore is a directory on disk.
type dirStore string

func (d dirStore) path(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

func (d dirStore) readFile(name string) ([]byte, error) {
	st, err := os.Stat(d.path(name))
	if err != nil {
		return nil, err
	}
	if st.Size() > maxRead {
		return nil, fmt.Errorf("%s: %w", name, errTooLong)
	}
	return os.ReadFile(d.path(name))
}

func (d dirStore) readDir(name string) ([]string, error) {
	entries, err := os.ReadDir(d.path(name))
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (d dirStore) readLink(name string) (string, error) { return os.Readlink(d.path(name)) }

// A fileTree holds captured files in memory, by path.
type fileTree map[string][]byte

// add adds a file under its cleaned name. A name that leads out of the tree is an error,
// because captures come from strangers.
func (f fileTree) add(name string, data []byte) error {
	clean := path.Clean(name)
	if !fs.ValidPath(clean) || clean == "." {
		return fmt.Errorf("bad file name %q", name)
	}
	f[clean] = data
	return nil
}

func (f fileTree) readFile(name string) ([]byte, error) {
	if b, ok := f[name]; ok {
		return b, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (f fileTree) readDir(name string) ([]string, error) {
	prefix := name + "/"
	if name == "." {
		prefix = ""
	}
	var names []string
	for file := range f {
		if rest, ok := strings.CutPrefix(file, prefix); ok {
			first, _, _ := strings.Cut(rest, "/")
			names = append(names, first)
		}
	}
	if names == nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (f fileTree) readLink(name string) (string, error) {
	return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrNotExist}
}
