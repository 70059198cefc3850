package probe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// A Recorder is a Source that reads from another one and keeps what it returned, in the
// layout that Open reads.
type Recorder struct {
	src Source

	mu    sync.Mutex
	files map[string][]byte
	links map[string]string
	dirs  map[string][]string
}

// NewRecorder returns a Recorder that reads from src.
func NewRecorder(src Source) *Recorder {
	return &Recorder{src: src, files: map[string][]byte{}, links: map[string]string{}, dirs: map[string][]string{}}
}

// Files returns the recorded files, by path.
func (r *Recorder) Files() map[string][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := maps.Clone(r.files)
	var links, dirs strings.Builder
	for _, from := range slices.Sorted(maps.Keys(r.links)) {
		fmt.Fprintf(&links, "%s -> %s\n", from, r.links[from])
	}
	for _, dir := range slices.Sorted(maps.Keys(r.dirs)) {
		fmt.Fprintf(&dirs, "%s: %s\n", dir, strings.Join(r.dirs[dir], " "))
	}
	out["LINKS"], out["DIRS"] = []byte(links.String()), []byte(dirs.String())
	return out
}

func (r *Recorder) keep(name string, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[name] = b
}

// OS implements Source.
func (r *Recorder) OS() string { return r.src.OS() }

// ReadFile implements Source.
func (r *Recorder) ReadFile(name string) ([]byte, error) {
	b, err := r.src.ReadFile(name)
	if err == nil {
		r.keep(path.Clean(name), b)
	}
	return b, err
}

// ReadDir implements Source.
func (r *Recorder) ReadDir(name string) ([]string, error) {
	names, err := r.src.ReadDir(name)
	if err == nil {
		r.mu.Lock()
		r.dirs[path.Clean(name)] = names
		r.mu.Unlock()
	}
	return names, err
}

// ReadLink implements Source.
func (r *Recorder) ReadLink(name string) (string, error) {
	to, err := r.src.ReadLink(name)
	if err == nil {
		r.mu.Lock()
		r.links[path.Clean(name)] = to
		r.mu.Unlock()
	}
	return to, err
}

// Run implements Source.
func (r *Recorder) Run(ctx context.Context, name string, args ...string) ([]byte, error) {
	b, err := r.src.Run(ctx, name, args...)
	file := "commands/" + CommandFile(name, args...)
	switch {
	case err == nil:
		r.keep(file, b)
	case !errors.Is(err, ErrNoCommand):
		r.keep(file+".err", []byte(err.Error()+"\n"))
	}
	return b, err
}
