package probe

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// maxCapture limits the unpacked size of a captured machine.
const maxCapture = 256 << 20

// A Capture is a captured machine and the name it was captured under.
type Capture struct {
	Host   string
	Source Source
}

// Open opens one or several captured machines: a directory, a support bundle (.tar.gz,
// .tgz) or a .txtar file. A tree with proc, sys or commands at its top is one machine;
// otherwise each folder in it is a machine with the name of the folder.
func Open(name string) ([]Capture, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("open captured machine: %w", err)
	}
	base := filepath.Base(name)
	if st.IsDir() {
		return machinesIn(dirStore(name), base)
	}
	files := fileTree{}
	switch {
	case strings.HasSuffix(name, ".txtar"):
		err = files.addTxtar(name)
		base = strings.TrimSuffix(base, ".txtar")
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		err = files.addTarGz(name)
		base = strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".tar")
		base = strings.TrimSuffix(base, ".tgz")
	default:
		return nil, fmt.Errorf("open captured machine %s: neither a directory nor .tar.gz nor .txtar", name)
	}
	if err != nil {
		return nil, fmt.Errorf("open captured machine %s: %w", name, err)
	}
	return machinesIn(files, base)
}

// Captured opens captured machines and probes each of them. If there are several, or one
// has no host name, the name is that of the folder.
func Captured(ctx context.Context, name string) ([]*Machine, error) {
	captures, err := Open(name)
	if err != nil {
		return nil, err
	}
	var out []*Machine
	for _, c := range captures {
		m := Probe(ctx, c.Source)
		if len(captures) > 1 || m.Host == "" {
			m.Host = c.Host
		}
		out = append(out, m)
	}
	return out, nil
}

// machinesIn returns the captured machines in a store.
func machinesIn(st store, base string) ([]Capture, error) {
	top, err := st.readDir(".")
	if err != nil {
		return nil, fmt.Errorf("open captured machine: %w", err)
	}
	if isMachine(top) {
		return []Capture{{Host: base, Source: newTree(st, ".")}}, nil
	}
	var out []Capture
	for _, name := range top {
		if sub, err := st.readDir(name); err == nil && isMachine(sub) {
			out = append(out, Capture{Host: name, Source: newTree(st, name)})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no captured machine in %s: want proc, sys or commands in it, or in its folders", base)
	}
	return out, nil
}

func isMachine(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return n == "proc" || n == "sys" || n == "commands" })
}

// A tree is a Source over the captured files of one machine.
type tree struct {
	st    store
	top   string              // folder of the machine in st
	links map[string]string   // from the file LINKS
	dirs  map[string][]string // from the file DIRS
}

func newTree(st store, top string) *tree {
	t := &tree{st: st, top: top, links: map[string]string{}, dirs: map[string][]string{}}
	for _, line := range t.lines("LINKS") {
		if from, to, ok := strings.Cut(line, " -> "); ok {
			t.links[from] = to
		}
	}
	for _, line := range t.lines("DIRS") {
		if dir, names, ok := strings.Cut(line, ": "); ok { // PCI addresses have colons too
			t.dirs[dir] = strings.Fields(names)
		}
	}
	return t
}

// lines returns the lines of an optional file.
func (t *tree) lines(name string) []string {
	b, err := t.ReadFile(name)
	if err != nil {
		return nil
	}
	return strings.Split(string(b), "\n")
}

func (t *tree) OS() string {
	if _, err := t.ReadFile("commands/" + CommandFile("sw_vers")); err == nil {
		return "darwin"
	}
	return "linux"
}

func (t *tree) ReadFile(name string) ([]byte, error) { return t.st.readFile(path.Join(t.top, name)) }

// ReadDir prefers the recorded listing, because files that no probe read are only there.
func (t *tree) ReadDir(name string) ([]string, error) {
	if names, ok := t.dirs[path.Clean(name)]; ok {
		return names, nil
	}
	return t.st.readDir(path.Join(t.top, name))
}

func (t *tree) ReadLink(name string) (string, error) {
	if to, ok := t.links[path.Clean(name)]; ok {
		return to, nil
	}
	return t.st.readLink(path.Join(t.top, name))
}

func (t *tree) Run(_ context.Context, name string, args ...string) ([]byte, error) {
	file := "commands/" + CommandFile(name, args...)
	b, err := t.ReadFile(file)
	if err == nil {
		return b, nil
	}
	if msg, errMsg := t.ReadFile(file + ".err"); errMsg == nil {
		return nil, errors.New(strings.TrimSpace(string(msg)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, ErrNoCommand)
	}
	return nil, err
}

func (f fileTree) addTxtar(name string) error {
	st, err := os.Stat(name)
	if err != nil {
		return err
	}
	if st.Size() > maxCapture {
		return errTooLong
	}
	a, err := txtar.ParseFile(name)
	if err != nil {
		return err
	}
	for _, file := range a.Files {
		if err := f.add(file.Name, file.Data); err != nil {
			return err
		}
	}
	return nil
}

func (f fileTree) addTarGz(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return f.addTarGzFrom(file)
}

// ReadTarGz returns the files of a support bundle, by path.
func ReadTarGz(r io.Reader) (map[string][]byte, error) {
	files := fileTree{}
	err := files.addTarGzFrom(r)
	return files, err
}

func (f fileTree) addTarGzFrom(r io.Reader) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	t := tar.NewReader(z)
	total := int64(0)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if total += h.Size; total > maxCapture || h.Size < 0 {
			return errTooLong
		}
		b, err := io.ReadAll(io.LimitReader(t, h.Size))
		if err != nil {
			return err
		}
		if err := f.add(h.Name, b); err != nil {
			return err
		}
	}
}
