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

// Directories of USB4 streams and their devices on Linux.
const (
	Configfs = "/sys/kernel/config/thunderbolt/stream"
	Dev      = "/dev"
)

// maxName is the maximum length of the name of a stream.
const maxName = 8

// deviceTime is how long the device of a new stream may take to appear.
const deviceTime = 2 * time.Second

// retryOpen is the interval between attempts to reach the other end.
const retryOpen = 20 * time.Millisecond

// An endpoint is a stream in configfs.
type endpoint struct {
	sys    System
	dir    string
	device string
}

// Check returns nil if streams can be created over a service of a peer, and otherwise
// an error that tells what to do. A nil System is that of the machine.
func Check(sys System, service string) error {
	if sys == nil {
		sys = linux{}
	}
	return makeService(sys, service)
}

// makeService creates the directory of a service, unless it exists.
func makeService(sys System, service string) error {
	dir := path.Join(Configfs, service)
	err := sys.Mkdir(dir)
	hint := "check that the cable is plugged in and that " + service + " is the peer's service here (see /sys/bus/thunderbolt/devices)"
	switch {
	case err == nil || errors.Is(err, os.ErrExist):
		return nil
	case errors.Is(err, os.ErrNotExist):
		hint = "this needs Linux 7 with the module thunderbolt_stream (modprobe thunderbolt_stream) and configfs mounted at /sys/kernel/config"
	case errors.Is(err, os.ErrPermission):
		hint = "run as root, or make " + Configfs + " writable for this user"
	}
	return fmt.Errorf("stream: creating %s: %w; %s", dir, reason(err), hint)
}

// reason returns the cause of an error without the path, which the caller adds.
func reason(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// makeEndpoint creates the named stream over a service and finds its device.
func makeEndpoint(sys System, service, name string) (*endpoint, error) {
	if len(name) > maxName || name == "" {
		return nil, fmt.Errorf("stream: name %q is empty or longer than %d characters", name, maxName)
	}
	if err := makeService(sys, service); err != nil {
		return nil, err
	}
	e := &endpoint{sys: sys, dir: path.Join(Configfs, service, name)}
	// One that a dead process left behind is as good as a new one.
	if err := sys.Mkdir(e.dir); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("stream: creating %s: %w", e.dir, reason(err))
	}
	text, err := sys.ReadFile(path.Join(e.dir, "index"))
	if err != nil {
		e.remove()
		return nil, fmt.Errorf("stream: %w", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 0 {
		e.remove()
		return nil, fmt.Errorf("stream: %s/index holds %q, which is not a device number", e.dir, text)
	}
	e.device = fmt.Sprintf("%s/tbstream%d", Dev, n)
	return e, nil
}

// open opens the device as soon as the peer has created its end (ENXIO before that).
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

// openError adds what to do about a device that cannot be opened.
func (e *endpoint) openError(err error) error {
	hint := ""
	switch {
	case errors.Is(err, os.ErrPermission):
		hint = "; run as root, or give this user access with a udev rule"
	case errors.Is(err, os.ErrNotExist):
		hint = fmt.Sprintf("; %s exists, but its device does not: check that udev is running", e.dir)
	case errors.Is(err, syscall.EBUSY):
		hint = "; another process uses it: check that no earlier job is still running"
	}
	return fmt.Errorf("stream: opening %s: %w%s", e.device, reason(err), hint)
}

// remove removes the stream from configfs, and its service with the last one.
func (e *endpoint) remove() {
	if e.sys.Remove(e.dir) == nil {
		e.sys.Remove(path.Dir(e.dir)) // fails while it has other streams
	}
}
