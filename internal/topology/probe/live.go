package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// maxRead limits the size of a file and of a command's output.
const maxRead = 8 << 20

// Live returns the Source that reads the machine this process runs on.
func Live() Source { return live{} }

type live struct{}

func (live) OS() string { return runtime.GOOS }

func (live) ReadFile(path string) ([]byte, error) {
	f, err := os.Open("/" + path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(&limitReader{f, maxRead}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (live) ReadDir(path string) ([]string, error) {
	entries, err := os.ReadDir("/" + path)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

func (live) ReadLink(path string) (string, error) { return os.Readlink("/" + path) }

func (live) Run(ctx context.Context, name string, args ...string) ([]byte, error) {
	path, err := lookPath(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, ErrNoCommand)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "LANG=C")
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limitWriter{&out, maxRead}, &limitWriter{&errOut, 4096}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("took too long: %w", context.Cause(ctx))
		}
		if text := strings.TrimSpace(errOut.String()); text != "" {
			return nil, fmt.Errorf("%w: %s", err, firstLine(text))
		}
		return nil, err
	}
	return out.Bytes(), nil
}

// lookPath finds a command in PATH, or in the directories that are in root's PATH but
// often not in a user's.
func lookPath(name string) (string, error) {
	if filepath.IsAbs(name) {
		_, err := os.Stat(name)
		return name, err
	}
	if p, err := exec.LookPath(name); err == nil {
		return p, nil
	}
	for _, dir := range []string{"/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/libexec/ApplicationFirewall"} {
		p := filepath.Join(dir, name)
		if st, err := os.Stat(p); err == nil && !st.IsDir() && st.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", exec.ErrNotFound
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

var errTooLong = errors.New("too long")

type limitReader struct {
	f    *os.File
	left int
}

func (r *limitReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errTooLong
	}
	n, err := r.f.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// A limitWriter keeps the first left bytes and drops the rest without an error, so that
// a closed pipe does not kill the command.
type limitWriter struct {
	b    *bytes.Buffer
	left int
}

func (w *limitWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.b.Write(p[:n])
	w.left -= n
	return len(p), nil
}
