package stream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Where Linux has streams and their devices.
const (
	Configfs = "/sys/kernel/config/thunderbolt/stream"
	Dev      = "/dev"
)

// maxName is the length of the name of a stream.
const maxName = 8

// deviceTime is how long the device of a new stream may take to appear.
const deviceTime = 2 * time.Second

// retryOpen is how often an end looks whether the other is there.
const retryOpen = 20 * time.Millisecond

// An endpoint is a stream in configfs.
type endpoint struct {
	sys    System
	dir    string
	device string
}

// Check says whether streams can be made over a service of a peer, and what to do if
// not. A nil System is that of the machine.
func Check(sys System, service string) error {
	if sys == nil {
		sys = linux{}
	}
	return makeService(sys, service)
}

// makeService makes the directory of a service, unless it is there.
func makeService(sys System, service string) error {
	dir := path.Join(Configfs, service)
	err := sys.Mkdir(dir)
	hint := "is the cable plugged in, and " + service + " what the peer is called here? See /sys/bus/thunderbolt/devices"
	switch {
	case err == nil || errors.Is(err, os.ErrExist):
		return nil
	case errors.Is(err, os.ErrNotExist):
		hint = "this needs Linux 7 with the module thunderbolt_stream (modprobe thunderbolt_stream) and configfs mounted at /sys/kernel/config"
	case errors.Is(err, os.ErrPermission):
		hint = "run as root, or give this user the directory " + Configfs
	}
	return fmt.Errorf("stream: making %s: %w; %s", dir, reason(err), hint)
}

// reason is the cause of an error without the path, which the caller names.
func reason(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// makeEndpoint makes the stream name over a service and finds its device.
func makeEndpoint(sys System, service, name string) (*endpoint, error) {
	if len(name) > maxName || name == "" {
		return nil, fmt.Errorf("stream: the name %q is longer than %d characters, or empty", name, maxName)
	}
	if err := makeService(sys, service); err != nil {
		return nil, err
	}
	e := &endpoint{sys: sys, dir: path.Join(Configfs, service, name)}
	// One that a process left behind which died is as good as a new one.
	if err := sys.Mkdir(e.dir); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("stream: making %s: %w", e.dir, reason(err))
	}
	text, err := sys.ReadFile(path.Join(e.dir, "index"))
	if err != nil {
		e.remove()
		return nil, fmt.Errorf("stream: %w", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 0 {
		e.remove()
		return nil, fmt.Errorf("stream: %s/index holds %q, not the number of a device", e.dir, text)
	}
	e.device = fmt.Sprintf("%s/tbstream%d", Dev, n)
	return e, nil
}

// open opens the device, as soon as the peer has made its end (ENXIO before that).
func (e *endpoint) open(ctx context.Context) (Device, error) {
	for since := time.Now(); ; {
		d, err := e.sys.Open(e.device)
		switch {
		case err == nil:
			return d, nil
		case errors.Is(err, syscall.ENXIO), errors.Is(err, os.ErrNotExist) && time.Since(since) < deviceTime:
		default:
			return nil, e.openError(err)
		}
		select {
		case <-time.After(retryOpen):
		case <-ctx.Done():
			return nil, fmt.Errorf("stream: waiting for the other end of %s at %s: %w", e.dir, e.device, context.Cause(ctx))
		}
	}
}

// openError says what to do about a device that cannot be opened.
func (e *endpoint) openError(err error) error {
	hint := ""
	switch {
	case errors.Is(err, os.ErrPermission):
		hint = "; run as root, or let a udev rule give this user the device"
	case errors.Is(err, os.ErrNotExist):
		hint = fmt.Sprintf("; %s names it: is udev running?", e.dir)
	case errors.Is(err, syscall.EBUSY):
		hint = "; another process has it: is an earlier job still running?"
	}
	return fmt.Errorf("stream: opening %s: %w%s", e.device, reason(err), hint)
}

// remove takes the stream out of configfs, and its service with the last one.
func (e *endpoint) remove() {
	if e.sys.Remove(e.dir) == nil {
		e.sys.Remove(path.Dir(e.dir)) // fails where others are left in it
	}
}
