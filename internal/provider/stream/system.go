package stream

import (
	"os"
	"syscall"
)

// A System creates and opens USB4 streams: Linux, or a fake (package streamtest). Paths
// are those of Linux, errors those of package os.
type System interface {
	// Mkdir creates a directory in configfs, and Remove removes it.
	Mkdir(path string) error
	Remove(path string) error
	// ReadFile reads an attribute of such a directory.
	ReadFile(path string) ([]byte, error)
	// Open opens a device for reading and writing. It does not wait for the other
	// end: without it, the error is ENXIO.
	Open(path string) (Device, error)
}

// linux is the System of this machine.
type linux struct{}

func (linux) Mkdir(path string) error              { return os.Mkdir(path, 0o755) }
func (linux) Remove(path string) error             { return os.Remove(path) }
func (linux) ReadFile(path string) ([]byte, error) { return os.ReadFile(path) }
func (linux) Open(path string) (Device, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return f, nil
}
