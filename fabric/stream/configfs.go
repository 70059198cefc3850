package stream

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Where Linux has configfs and devices.
const (
	DefaultConfigfs = "/sys/kernel/config/thunderbolt/stream"
	DefaultDev      = "/dev"
)

// maxName is the length of the name of a stream.
const maxName = 8

// deviceTime is how long the device of a new stream may take to appear.
const deviceTime = 2 * time.Second

// An endpoint is a stream in configfs.
type endpoint struct {
	dir    string
	device string
}

// makeEndpoint makes the stream name over a service of a peer, such as "0-1.3", and
// finds its device.
func makeEndpoint(configfs, dev, service, name string) (*endpoint, error) {
	if len(name) > maxName || name == "" {
		return nil, fmt.Errorf("stream: the name %q is longer than %d characters, or empty", name, maxName)
	}
	parent := filepath.Join(configfs, service)
	if err := os.Mkdir(parent, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("stream: %s: %w; is the module thunderbolt_stream loaded, and the cable plugged in?", service, err)
	}
	e := &endpoint{dir: filepath.Join(parent, name)}
	// One that a process left behind which died is as good as a new one.
	if err := os.Mkdir(e.dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("stream: making %s: %w", name, err)
	}
	text, err := os.ReadFile(filepath.Join(e.dir, "index"))
	if err != nil {
		e.remove()
		return nil, fmt.Errorf("stream: %s: %w", name, err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 0 {
		e.remove()
		return nil, fmt.Errorf("stream: %s has the index %q", name, text)
	}
	e.device = filepath.Join(dev, fmt.Sprintf("tbstream%d", n))
	return e, nil
}

// remove takes the stream out of configfs.
func (e *endpoint) remove() error { return os.Remove(e.dir) }
