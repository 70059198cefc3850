package stream

import (
	"context"
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

type systemKey struct{}

// WithSystem returns a context under which jobs look for streams in sys instead of on
// the machine. It is for tests that have no such cable.
func WithSystem(ctx context.Context, sys System) context.Context {
	return context.WithValue(ctx, systemKey{}, sys)
}

// SystemOf returns the System of a context; nil for the machine's own.
func SystemOf(ctx context.Context) System {
	sys, _ := ctx.Value(systemKey{}).(System)
	return sys
}

// linux is the System of the machine.
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
