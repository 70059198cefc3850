// Package streamtest is a fake of USB4 streams: machines whose configfs and devices are
// in memory, and cables between them that behave as the driver does, including short
// writes, the ring of frames, end of stream, unplugged cables, and bit errors that are
// delivered without an error.
package streamtest

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"thundercollective/internal/provider/stream"
)

// A Machine is a stream.System.
type Machine struct {
	mu       sync.Mutex
	driver   bool
	services map[string]*end // by name, as in "0-1.3"
	dirs     map[string]int  // in configfs; the index of a stream, -1 for a service
	next     int             // index
}

// end is one end of a cable.
type end struct {
	c    *Cable
	side int
}

// NewMachine returns a machine with the driver loaded and no cable.
func NewMachine() *Machine {
	return &Machine{driver: true, services: map[string]*end{}, dirs: map[string]int{}}
}

// Unload unloads the driver.
func (m *Machine) Unload() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.driver = false
}

// Join plugs in a cable between two machines. Each has the given service for the other.
func Join(a *Machine, serviceA string, b *Machine, serviceB string) *Cable {
	c := &Cable{streams: map[string]*fakeStream{}, open: map[*device]bool{}, ends: [2]*Machine{a, b}, services: [2]string{serviceA, serviceB}}
	for side, m := range c.ends {
		m.mu.Lock()
		m.services[c.services[side]] = &end{c, side}
		m.mu.Unlock()
	}
	return c
}

func pathError(op, path string, err error) error { return &os.PathError{Op: op, Path: path, Err: err} }

// Mkdir implements stream.System.
func (m *Machine) Mkdir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	rel, ok := strings.CutPrefix(dir, stream.Configfs+"/")
	if !ok || !m.driver {
		return pathError("mkdir", dir, syscall.ENOENT)
	}
	if _, there := m.dirs[dir]; there {
		return pathError("mkdir", dir, syscall.EEXIST)
	}
	service, name, deep := strings.Cut(rel, "/")
	switch {
	case m.services[service] == nil:
		return pathError("mkdir", dir, syscall.ENODEV)
	case !deep:
		m.dirs[dir] = -1
		return nil
	case len(name) > 8:
		return pathError("mkdir", dir, syscall.ENAMETOOLONG)
	}
	if _, there := m.dirs[path.Dir(dir)]; !there {
		return pathError("mkdir", dir, syscall.ENOENT)
	}
	m.dirs[dir] = m.next
	m.next++
	return nil
}

// Remove implements stream.System.
func (m *Machine) Remove(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, there := m.dirs[dir]; !there {
		return pathError("rmdir", dir, syscall.ENOENT)
	}
	for d := range m.dirs {
		if strings.HasPrefix(d, dir+"/") {
			return pathError("rmdir", dir, syscall.ENOTEMPTY)
		}
	}
	delete(m.dirs, dir)
	return nil
}

// ReadFile implements stream.System.
func (m *Machine) ReadFile(file string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, there := m.dirs[path.Dir(file)]
	if !there || n < 0 || path.Base(file) != "index" {
		return nil, pathError("open", file, syscall.ENOENT)
	}
	return fmt.Appendf(nil, "%d\n", n), nil
}

// Left lists the directories that were not removed.
func (m *Machine) Left() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []string
	for d := range m.dirs {
		list = append(list, d)
	}
	return list
}

// has reports whether a stream was created over a service.
func (m *Machine) has(service, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, there := m.dirs[path.Join(stream.Configfs, service, name)]
	return there
}

// find returns the cable and the name of the stream that a device belongs to.
func (m *Machine) find(file string) (e *end, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for d, n := range m.dirs {
		if n >= 0 && file == stream.Dev+"/tbstream"+strconv.Itoa(n) {
			return m.services[path.Base(path.Dir(d))], path.Base(d)
		}
	}
	return nil, ""
}

// Open implements stream.System.
func (m *Machine) Open(file string) (stream.Device, error) {
	e, name := m.find(file)
	if e == nil {
		return nil, pathError("open", file, syscall.ENOENT)
	}
	d, err := e.c.attach(e.side, name)
	if err != nil {
		return nil, pathError("open", file, err)
	}
	return d, nil
}
