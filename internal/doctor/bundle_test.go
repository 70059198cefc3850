package doctor

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"thundercollective/internal/topology/probe"
)

// A story that is packed into a bundle and read back gives the same report.
func TestBundleRoundTrip(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			captures, err := probe.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			bundles := map[string]*Bundle{}
			for _, c := range captures {
				if bundles[c.Host], err = Collect(t.Context(), c.Source, BundleOptions{Version: "test", Now: time.Unix(0, 0)}); err != nil {
					t.Fatal(err)
				}
			}
			name := filepath.Join(t.TempDir(), "bundle.tar.gz")
			f, err := os.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := WriteBundles(f, bundles, time.Unix(0, 0)); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			text := func(file string) string {
				var b bytes.Buffer
				if err := NewReport(time.Unix(0, 0), "test", load(t, file), nil).WriteText(&b, TextOptions{}); err != nil {
					t.Fatal(err)
				}
				return b.String()
			}
			if got, want := text(name), text(file); got != want {
				t.Errorf("from the bundle:\n%s\nfrom the story:\n%s", got, want)
			}
		})
	}
}

// Planted secrets are in no bundle.
func TestBundleHasNoSecrets(t *testing.T) {
	captures, err := probe.Open("testdata/stories/two-strix-halo-two-rails.txtar")
	if err != nil {
		t.Fatal(err)
	}
	src := planted{captures[0].Source}
	b, err := Collect(t.Context(), src, BundleOptions{
		Now: time.Unix(0, 0), Version: "test",
		Environ: []string{"THUNDER_TOKEN=hunter2-of-the-job", "THUNDER_FABRIC=tcp", "AWS_SECRET=aws-hunter2", "MLX_RANK=0"},
		Secrets: []string{"hunter2-of-the-job"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := WriteBundles(&packed, map[string]*Bundle{"x": b}, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2", "C02ABC123DEF", "alice", "8.8.4.4", "2a00:1450"} {
		if bytes.Contains(all, []byte(secret)) {
			t.Errorf("%q is in the bundle", secret)
		}
	}
	for _, kept := range []string{"THUNDER_FABRIC=tcp", "MLX_RANK=0", "thunderbolt 0000:c7:00.5: link up", "10.71.0.1"} {
		if !bytes.Contains(all, []byte(kept)) {
			t.Errorf("%q is not in the bundle", kept)
		}
	}
}

// planted adds lines with secrets to the output of a machine's commands.
type planted struct{ probe.Source }

func (p planted) ReadFile(name string) ([]byte, error) {
	b, err := p.Source.ReadFile(name)
	if name == "proc/modules" {
		b = append(b, "note: psk=hunter2-wifi serial_number: C02ABC123DEF path /home/alice/x from 8.8.4.4 and 2a00:1450:4001:80b::200e\n"...)
	}
	return b, err
}

func (p planted) Run(ctx context.Context, name string, args ...string) ([]byte, error) {
	if name == "dmesg" {
		return []byte("thunderbolt 0000:c7:00.5: link up\nrandom: token=hunter2-kernel\nusb4: password: hunter2-usb\n"), nil
	}
	return p.Source.Run(ctx, name, args...)
}

func TestRedact(t *testing.T) {
	tests := map[string]string{
		"a s3cret-token b":                 "a (removed) b",
		`"token": "abcdef"`:                `"token": "(removed)"`,
		"THUNDER_TOKEN=abcdef next":        "THUNDER_TOKEN=(removed) next",
		"Serial Number: C02ABC":            "Serial Number: (removed)",
		"/Users/alice/Library":             "/Users/user/Library",
		"10.0.0.1 and 192.168.1.1":         "10.0.0.1 and 192.168.1.1",
		"255.255.255.0 169.254.1.1":        "255.255.255.0 169.254.1.1",
		"1.1.1.1 9.9.9.9 1.1.1.1":          "203.0.113.0 203.0.113.1 203.0.113.0",
		"fe80::1 fd00::2 ::ffff:10.0.0.1":  "fe80::1 fd00::2 ::ffff:10.0.0.1",
		"36:05:f5:48:96:57":                "36:05:f5:48:96:57",
		"0000:65:00.0":                     "0000:65:00.0",
		"node_guid: b8ce:f603:00aa:0061":   "node_guid: b8ce:f603:00aa:0061",
		"2a00:1450:4001::200e 2a00:1450::": "2001:db8::1 2001:db8::2",
		"12:34:56 kernel: 6.14.0-29":       "12:34:56 kernel: 6.14.0-29",
	}
	for in, want := range tests {
		// A new one each time: it numbers addresses in the order of occurrence.
		if got := string(newRedactor("s3cret-token").clean([]byte(in))); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
