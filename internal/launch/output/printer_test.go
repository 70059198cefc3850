package output

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newPrinter(t *testing.T, edit func(*Config)) (*Printer, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	var out, errs bytes.Buffer
	cfg := Config{Stdout: &out, Stderr: &errs, Hosts: []string{"a", "long", "a"}, Tag: true}
	if edit != nil {
		edit(&cfg)
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p, &out, &errs
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		edit           func(*Config)
	}{
		{"lines", "x\ny\n", "0@a    | x\n0@a    | y\n", nil},
		{"no newline at the end", "x\ny", "0@a    | x\n0@a    | y\n", nil},
		{"empty line", "\n", "0@a    | \n", nil},
		{"dos line", "x\r\n", "0@a    | x\n", nil},
		{"progress bar", "10%\r20%\r", "0@a    | 10%\n0@a    | 20%\n", nil},
		{"leading return", "\r10%\n", "0@a    | 10%\n", nil},
		{"raw", "\r10%\r20%", "\r10%\r20%", func(c *Config) { c.Tag = false }},
		{"quiet", "x\n", "", func(c *Config) { c.Quiet = []int{0, 2} }},
		{"colour", "x\n", "\x1b[36m0@a\x1b[0m    | x\n", func(c *Config) { c.Color = true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, out, errs := newPrinter(t, tt.edit)
			p.Lines(0, false, []byte(tt.in))
			if out.String() != tt.want || errs.Len() != 0 {
				t.Errorf("got %q and %q, want %q", out, errs, tt.want)
			}
		})
	}
	p, out, errs := newPrinter(t, nil)
	p.Lines(1, true, []byte("oops\n"))
	if out.Len() != 0 || errs.String() != "1@long | oops\n" {
		t.Errorf("stderr: got %q and %q", out, errs)
	}
	if want := len("1@long | "); p.Width() != want {
		t.Errorf("width %d, want %d", p.Width(), want)
	}
}

// The line of progress is taken away before anything is printed and put back
// after it.
func TestStatus(t *testing.T) {
	p, _, errs := newPrinter(t, func(c *Config) { c.Live = true })
	p.cfg.Stdout = errs // one screen
	p.Status("working")
	p.Lines(0, false, []byte("x\n"))
	p.Note("hm")
	p.Status("nearly")
	p.Status("nearly")
	p.Close()
	clear := "\r\x1b[K"
	want := "working" + clear + "0@a    | x\nworking" + clear + "thunder launch: hm\nworking" + clear + "nearly" + clear
	if got := errs.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	p, _, errs = newPrinter(t, nil)
	p.Status("working")
	if errs.Len() != 0 {
		t.Errorf("progress without a terminal: %q", errs)
	}
}

func TestLogs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	p, _, _ := newPrinter(t, func(c *Config) {
		c.LogDir = dir
		c.Quiet = []int{1}
	})
	p.Lines(1, false, []byte("one\r"))
	p.Lines(1, true, []byte("two"))
	if err := p.Generation(1); err != nil {
		t.Fatal(err)
	}
	p.Lines(1, false, []byte("again\n"))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"rank-0.log": "", "rank-1.log": "one\rtwo", "rank-1.restart-1.log": "again\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := New(Config{Hosts: []string{"a"}, LogDir: dir + "/rank-0.log/x"}); err == nil || !strings.Contains(err.Error(), "log directory") {
		t.Errorf("folder inside a file: %v", err)
	}
}
