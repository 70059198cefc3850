package doctor

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"thundercollective/internal/topology"
	"thundercollective/internal/topology/probe"
)

// A Bundle is a machine captured for a bug report: everything that the probes read, the
// doctor's report, versions and logs, without secrets. Its files have the layout that
// probe.Open reads.
type Bundle struct {
	files map[string][]byte
}

// BundleOptions describe what goes into a bundle besides the files of the probes.
type BundleOptions struct {
	Version string   // of this program
	Environ []string // of this process; only THUNDER_ and MLX_ variables are kept
	Secrets []string // texts that must not appear in any file
	Journal string   // path of setup's journal; may be empty
	Now     time.Time
}

// logLines select the lines of the kernel log that are about cables and cards.
var logLines = []string{"thunderbolt", "usb4", "mlx5", "infiniband", "rdma", "roce", "pcieport", "iommu"}

// Collect captures the machine that src reads.
func Collect(ctx context.Context, src probe.Source, o BundleOptions) (*Bundle, error) {
	rec := probe.NewRecorder(src)
	m := probe.Probe(ctx, rec)
	files := rec.Files()
	if log, err := src.Run(ctx, "dmesg"); err == nil {
		files["logs/kernel.txt"] = grep(log, logLines)
	} else {
		files["logs/kernel.txt"] = fmt.Appendf(nil, "could not be read: %v\n", err)
	}
	if o.Journal != "" {
		if b, err := src.ReadFile(strings.TrimPrefix(o.Journal, "/")); err == nil {
			files["logs/setup.json"] = b
		}
	}
	files["logs/environment.txt"] = environment(o.Environ)
	r := NewReport(o.Now, o.Version, topology.Build([]*probe.Machine{m}), nil)
	var text bytes.Buffer
	if err := r.WriteText(&text, TextOptions{}); err != nil {
		return nil, err
	}
	files["doctor.txt"] = text.Bytes()
	files["README.txt"] = fmt.Appendf(nil, `Made by thunder %s on %s.
Read it with: thunder doctor --root THIS.tar.gz
Tokens, serial numbers, user names and public addresses were removed.
`, o.Version, o.Now.UTC().Format(time.RFC3339))

	clean := newRedactor(o.Secrets...)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		files[name] = clean.clean(files[name])
	}
	return &Bundle{files: files}, nil
}

// environment returns the variables that affect jobs, without the values of those that
// may be secret.
func environment(environ []string) []byte {
	var b bytes.Buffer
	for _, kv := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "THUNDER_") && !strings.HasPrefix(name, "MLX_") {
			continue
		}
		for _, word := range []string{"TOKEN", "SECRET", "PASS", "KEY"} {
			if strings.Contains(name, word) && value != "" {
				value = removed
			}
		}
		fmt.Fprintf(&b, "%s=%s\n", name, value)
	}
	return b.Bytes()
}

func grep(log []byte, words []string) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(log) {
		low := strings.ToLower(string(line))
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) }) {
			b.Write(line)
		}
	}
	return b.Bytes()
}

// WriteBundles writes bundles as one .tar.gz. The files of a single bundle are at its top,
// those of several in one folder per host.
func WriteBundles(w io.Writer, bundles map[string]*Bundle, now time.Time) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, host := range slices.Sorted(maps.Keys(bundles)) {
		b := bundles[host]
		for _, name := range slices.Sorted(maps.Keys(b.files)) {
			full := name
			if len(bundles) > 1 {
				full = path.Join(host, name)
			}
			h := &tar.Header{Name: full, Mode: 0o644, Size: int64(len(b.files[name])), ModTime: now.Truncate(time.Second), Format: tar.FormatPAX}
			if err := t.WriteHeader(h); err != nil {
				return fmt.Errorf("write bundle: %w", err)
			}
			if _, err := t.Write(b.files[name]); err != nil {
				return fmt.Errorf("write bundle: %w", err)
			}
		}
	}
	if err := t.Close(); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	return z.Close()
}

// ReadBundle reads the bundle of one machine.
func ReadBundle(r io.Reader) (*Bundle, error) {
	files, err := probe.ReadTarGz(r)
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	return &Bundle{files: files}, nil
}
