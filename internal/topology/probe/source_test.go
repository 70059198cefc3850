package probe

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

func stories(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../../doctor/testdata/stories/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	return files
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A .txtar, a directory, and the files of a Recorder give the same machines.
func TestCapturesAgree(t *testing.T) {
	for _, file := range stories(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := Captured(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range a.Files {
				name := filepath.Join(dir, f.Name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, f.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Captured(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if asJSON(t, got) != asJSON(t, want) {
				t.Error("the directory gives another report")
			}
			captures, err := Open(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range captures {
				rec := NewRecorder(c.Source)
				first := Probe(t.Context(), rec)
				files := fileTree(rec.Files())
				again := Probe(t.Context(), newTree(files, "."))
				if asJSON(t, again) != asJSON(t, first) {
					t.Errorf("machine %d: the recording gives another report", i)
				}
			}
		})
	}
}

// The machine of the test can be probed, recorded and read back.
func TestLive(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("SKIPPED: no probes for " + runtime.GOOS)
	}
	rec := NewRecorder(Live())
	m := Probe(t.Context(), rec)
	if m.Host == "" || m.CPU.Cores == 0 || m.Memory == 0 {
		t.Errorf("%s", asJSON(t, m))
	}
	back := Probe(t.Context(), newTree(fileTree(rec.Files()), "."))
	if asJSON(t, back) != asJSON(t, m) {
		t.Errorf("recorded:\n%s\nread back:\n%s", asJSON(t, m), asJSON(t, back))
	}
}

// A command that hangs does not cost the whole report.
func TestHangingCommand(t *testing.T) {
	captures, err := Open("../../doctor/testdata/stories/two-macs-one-cable.txtar")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	m := Probe(ctx, hanging{captures[0].Source})
	if len(m.Problems) != 1 || !strings.Contains(m.Problems[0].What, "system_profiler SPThunderboltDataType") || len(m.Interfaces) == 0 {
		t.Errorf("%v", m.Problems)
	}
}

type hanging struct{ Source }

func (h hanging) Run(ctx context.Context, name string, args ...string) ([]byte, error) {
	if name == "system_profiler" && args[0] == "SPThunderboltDataType" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return h.Source.Run(ctx, name, args...)
}

// A parser that panics does not cost the whole report.
func TestPanicIsAProblem(t *testing.T) {
	p := &prober{ctx: t.Context(), m: &Machine{}}
	p.step("x", func(context.Context) error { panic("oh") })
	p.wait()
	if len(p.m.Problems) != 1 || !strings.Contains(p.m.Problems[0].Why, "oh") {
		t.Errorf("%v", p.m.Problems)
	}
}

func TestBadCaptures(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var evil bytes.Buffer
	z := gzip.NewWriter(&evil)
	w := tar.NewWriter(z)
	w.WriteHeader(&tar.Header{Name: "../../etc/passwd", Typeflag: tar.TypeReg, Size: 1, Mode: 0o600})
	w.Write([]byte("x"))
	w.Close()
	z.Close()
	for _, name := range []string{
		filepath.Join(dir, "none"), write("note.txt", nil), write("empty.tar.gz", nil), write("evil.tar.gz", evil.Bytes()),
		write("half.tar.gz", evil.Bytes()[:20]), write("nothing.txtar", []byte("-- readme --\nhello\n")),
	} {
		if got, err := Open(name); err == nil {
			t.Errorf("%s gives %v", name, got)
		}
	}
}

func TestMissingIsNotBroken(t *testing.T) {
	_, err := Live().Run(t.Context(), "surely-no-such-command")
	if !errors.Is(err, ErrNoCommand) {
		t.Errorf("error %v", err)
	}
	if _, err := Live().ReadFile("surely/no/such/file"); !absent(err) {
		t.Errorf("error %v", err)
	}
}
