package agent

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"thundercollective/internal/launch/wire"
)

func TestPrepareFailures(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	l := startAgent(t, Config{})
	for _, tt := range []struct {
		name string
		p    wire.Prepare
		code int
		msg  string
	}{
		{"not found", wire.Prepare{Program: []string{"no-such-program"}, Dir: "/"}, 127, "no-such-program"},
		{"relative", wire.Prepare{Program: []string{"./none"}, Dir: "/tmp"}, 127, "/tmp/none"},
		{"not executable", wire.Prepare{Program: []string{text}, Dir: "/"}, 126, "permission denied"},
		{"no such folder", wire.Prepare{Program: []string{"sh"}, Dir: "/none", Required: true}, 1, "/none"},
		{"folder is a file", wire.Prepare{Program: []string{"sh"}, Dir: text, Required: true}, 1, "not a directory"},
		{"port taken", wire.Prepare{Program: []string{"sh"}, Dir: "/", Host: "127.0.0.1", Ports: []int{0, taken.Addr().(*net.TCPAddr).Port}}, 1, "is taken"},
	} {
		l.send(wire.KindPrepare, tt.p)
		var f wire.Failed
		l.expect(wire.KindFailed, &f)
		if f.Code != tt.code || !strings.Contains(f.Message, tt.msg) {
			t.Errorf("%s: got %+v, want code %d and %q", tt.name, f, tt.code, tt.msg)
		}
	}
	// The agent is still good for something.
	l.send(wire.KindPrepare, wire.Prepare{Program: []string{"sh"}, Dir: "/none", Ports: []int{0, 0, 0}, Host: "127.0.0.1"})
	var r wire.Ready
	l.expect(wire.KindReady, &r)
	if home, _ := os.UserHomeDir(); r.Dir != home || len(r.Ports) != 3 || r.Ports[0] == r.Ports[1] {
		t.Errorf("got %+v", r)
	}
}

func TestCopy(t *testing.T) {
	l := startAgent(t, Config{})
	l.send(wire.KindPrepare, wire.Prepare{Program: []string{"./sub/prog"}, Copy: true})
	l.SendData(wire.KindCopy, 0, archive(t,
		tar.Header{Name: "sub", Typeflag: tar.TypeDir, Mode: 0o755},
		tar.Header{Name: "sub/prog", Typeflag: tar.TypeReg, Mode: 0o755, PAXRecords: map[string]string{"TEST.body": "#!/bin/sh\ncat sub/link\n"}},
		tar.Header{Name: "sub/link", Typeflag: tar.TypeSymlink, Linkname: "prog"},
	))
	l.send(wire.KindCopyEnd, nil)
	l.expect(wire.KindReady, nil)
	l.send(wire.KindStart, wire.Start{Ranks: []int{0}, Argv: []string{"./sub/prog"}, Env: [][]string{nil}})
	if f := l.expect(wire.KindStdout, nil); !strings.Contains(string(f.Data), "cat sub/link") {
		t.Errorf("output %q", f.Data)
	}
	l.expect(wire.KindFinished, nil)
}

// Directories of agents that were killed are removed by the next one; those of living
// agents are not.
func TestStaleJobDirs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	living, err := newJobDir()
	if err != nil {
		t.Fatal(err)
	}
	defer living.remove()
	killed, err := newJobDir()
	if err != nil {
		t.Fatal(err)
	}
	killed.lock.Close()
	next, err := newJobDir()
	if err != nil {
		t.Fatal(err)
	}
	for f, want := range map[*jobDir]bool{living: true, killed: false, next: true} {
		if _, err := os.Stat(f.path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", f.path, err == nil, want)
		}
	}
	next.remove()
	if left, _ := filepath.Glob(os.TempDir() + "/*"); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

func TestUnpackStaysInside(t *testing.T) {
	for _, headers := range [][]tar.Header{
		{{Name: "../evil", Typeflag: tar.TypeReg}},
		{{Name: "/evil", Typeflag: tar.TypeReg}},
		{{Name: "out", Typeflag: tar.TypeSymlink, Linkname: ".."}, {Name: "out/evil", Typeflag: tar.TypeReg}},
		{{Name: "dev", Typeflag: tar.TypeChar}},
	} {
		dir := t.TempDir()
		if err := unpack(bytes.NewReader(archive(t, headers...)), filepath.Join(dir, "copy")); err == nil {
			t.Errorf("%s: no error", headers[0].Name)
		}
		if _, err := os.Stat(filepath.Join(dir, "evil")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: wrote outside", headers[0].Name)
		}
	}
}

// archive is a tar stream; a file's contents are in its TEST.body record.
func archive(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		body := h.PAXRecords["TEST.body"]
		h.PAXRecords = nil
		h.Size = int64(len(body))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, body)
	}
	w.Close()
	return b.Bytes()
}
