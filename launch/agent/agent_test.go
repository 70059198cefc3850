package agent

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"thundercollective/launch/wire"
	"thundercollective/rendezvous"
)

// A launcher is the other end of an agent that runs in the test's process.
type launcher struct {
	*wire.Conn
	t   *testing.T
	in  *io.PipeWriter
	end chan error // what Run returned
}

func startAgent(t *testing.T, cfg Config) *launcher {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	cfg.In, cfg.Out, cfg.Version = inR, outW, "v1"
	l := &launcher{Conn: wire.NewConn(outR, inW), t: t, in: inW, end: make(chan error, 1)}
	go func() {
		l.end <- Run(context.Background(), cfg)
		outW.Close()
	}()
	t.Cleanup(func() {
		inW.Close()
		io.Copy(io.Discard, outR)
	})
	if _, err := l.AwaitGreeting(); err != nil {
		t.Fatal(err)
	}
	var h wire.Hello
	l.expect(wire.KindHello, &h)
	if h.Protocol != wire.Protocol || h.Version != "v1" || h.Path == "" {
		t.Errorf("hello %+v", h)
	}
	return l
}

func (l *launcher) send(kind wire.Kind, v any) {
	l.t.Helper()
	if err := l.Send(kind, 0, v); err != nil {
		l.t.Fatal(err)
	}
}

// expect skips to the next frame of the kind and decodes it.
func (l *launcher) expect(kind wire.Kind, v any) wire.Frame {
	l.t.Helper()
	for {
		f, err := l.Next()
		if err != nil {
			l.t.Fatalf("waiting for %q: %v", kind, err)
		}
		if f.Kind != kind {
			continue
		}
		if v != nil {
			if err := f.Decode(v); err != nil {
				l.t.Fatal(err)
			}
		}
		return f
	}
}

// start prepares and starts ranks 5 and 6, which run a shell script.
func (l *launcher) start(script string, edit func(*wire.Prepare, *wire.Start)) {
	l.t.Helper()
	p := wire.Prepare{Program: []string{"no-such-shell", "sh"}, Dir: "/", Required: true}
	s := wire.Start{
		Ranks: []int{5, 6}, Argv: []string{"sh", "-c", script}, Env: [][]string{{"RANK=5"}, {"RANK=6"}},
		Linger: 100 * time.Millisecond, Grace: 300 * time.Millisecond,
	}
	if edit != nil {
		edit(&p, &s)
	}
	l.send(wire.KindPrepare, p)
	l.expect(wire.KindReady, nil)
	l.send(wire.KindStart, s)
}

func TestRunRanks(t *testing.T) {
	l := startAgent(t, Config{})
	for generation := range 2 {
		l.start(`cat $SECRET; ls -l $SECRET | cut -c1-10; pwd; [ $RANK = 5 ] || exit 3`, func(_ *wire.Prepare, s *wire.Start) {
			s.Files = map[string]string{"SECRET": "swordfish\n"}
		})
		outs := map[int]string{}
		exits := map[int]wire.Exited{}
		for done := false; !done; {
			f, err := l.Next()
			if err != nil {
				t.Fatal(err)
			}
			switch f.Kind {
			case wire.KindStdout:
				outs[f.Rank] += string(f.Data)
			case wire.KindExited:
				var x wire.Exited
				f.Decode(&x)
				exits[f.Rank] = x
			case wire.KindFinished:
				done = true
				if string(f.Data) != `{"Code":0,"Message":""}` {
					t.Errorf("finished with %s", f.Data)
				}
			}
		}
		if want := "swordfish\n-rw-------\n/\n"; outs[5] != want || outs[6] != want {
			t.Errorf("generation %d: output %v", generation, outs)
		}
		if exits[5].Code != 0 || exits[6].Code != 3 || exits[6].How != "exited with code 3" {
			t.Errorf("generation %d: exits %+v", generation, exits)
		}
	}
	l.in.Close()
	if err := <-l.end; err != nil {
		t.Errorf("agent ended with %v", err)
	}
	if left, _ := filepath.Glob(os.TempDir() + "/thunder-job-*"); left != nil {
		t.Errorf("left behind %v", left)
	}
}

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

// However it loses its launcher, the agent ends its ranks and itself.
func TestLauncherGone(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose func(*launcher)
		want error // nil for the normal end
	}{
		{"end of stream", func(l *launcher) { l.in.Close() }, nil},
		{"silence", func(*launcher) {}, errors.New("nothing heard")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := startAgent(t, Config{})
			l.start(`trap "" TERM; echo ready; while :; do sleep 0.05; done`, func(p *wire.Prepare, _ *wire.Start) {
				p.Silence = 2 * time.Second
			})
			var pings sync.WaitGroup
			ready := make(chan struct{})
			pings.Go(func() {
				for {
					select {
					case <-time.After(50 * time.Millisecond):
						l.Send(wire.KindPing, 0, nil)
					case <-ready:
						return
					}
				}
			})
			var pids []int
			for range 2 {
				var s wire.Started
				l.expect(wire.KindStarted, &s)
				pids = append(pids, s.PID)
			}
			l.expect(wire.KindStdout, nil)
			close(ready)
			pings.Wait()
			tt.lose(l)
			go io.Copy(io.Discard, connReader{l.Conn})
			err := <-l.end
			if (err == nil) != (tt.want == nil) || err != nil && !strings.Contains(err.Error(), tt.want.Error()) {
				t.Errorf("agent ended with %v, want %v", err, tt.want)
			}
			for _, pid := range pids {
				if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
					t.Errorf("process %d: %v", pid, err)
				}
			}
		})
	}
}

func TestTerminateAndKill(t *testing.T) {
	for _, kind := range []wire.Kind{wire.KindTerminate, wire.KindKill} {
		l := startAgent(t, Config{})
		l.start(`trap 'exit 42' TERM; echo ready; while :; do sleep 0.05; done`, nil)
		l.expect(wire.KindStdout, nil)
		l.expect(wire.KindStdout, nil)
		l.send(kind, nil)
		want := 42
		if kind == wire.KindKill {
			want = 128 + int(syscall.SIGKILL)
		}
		for range 2 {
			var x wire.Exited
			l.expect(wire.KindExited, &x)
			if x.Code != want {
				t.Errorf("%q: got %+v, want code %d", kind, x, want)
			}
		}
		l.expect(wire.KindFinished, nil)
	}
}

func TestStdin(t *testing.T) {
	l := startAgent(t, Config{})
	l.start(`cat; echo end`, func(_ *wire.Prepare, s *wire.Start) { s.Stdin = []int{6} })
	l.SendData(wire.KindStdin, 6, []byte("hello\n"))
	var taken wire.Taken
	if f := l.expect(wire.KindStdinTaken, &taken); f.Rank != 6 || taken.Bytes != 6 {
		t.Errorf("rank %d took %d bytes", f.Rank, taken.Bytes)
	}
	l.Send(wire.KindStdinEnd, 6, nil)
	var out string
	for {
		f, err := l.Next()
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind == wire.KindStdout && f.Rank == 6 {
			out += string(f.Data)
		}
		if f.Kind == wire.KindFinished {
			break
		}
	}
	if out != "hello\nend\n" {
		t.Errorf("rank 6 wrote %q", out)
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

// TestServe has the coordinator there for one rendezvous after the other, until the
// ranks have ended.
func TestServe(t *testing.T) {
	l := startAgent(t, Config{})
	l.send(wire.KindPrepare, wire.Prepare{Program: []string{"cat"}, Dir: "/", Host: "127.0.0.1", Ports: []int{0},
		Serve: &wire.Serve{Size: 2, Token: "secret", Generation: 7}})
	var r wire.Ready
	l.expect(wire.KindReady, &r)
	l.send(wire.KindStart, wire.Start{Ranks: []int{0}, Argv: []string{"cat"}, Env: [][]string{nil}, Stdin: []int{0}})
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(r.Ports[0]))
	join := func(rank int, token string) (*rendezvous.Roster, error) {
		return rendezvous.Resolve(context.Background(), rendezvous.Config{
			Rank: rank, Size: 2, Coordinator: addr, Served: true, Token: []byte(token), Generation: 7, StartTimeout: 20 * time.Second,
		}, func(at []string) ([]string, error) { return []string{"127.0.0.1:" + strconv.Itoa(1000+rank)}, nil })
	}
	for range 3 {
		other := make(chan error, 1)
		go func() {
			_, err := join(1, "secret")
			other <- err
		}()
		if ros, err := join(0, "secret"); err != nil || ros.Size() != 2 {
			t.Errorf("rank 0 got %+v, %v", ros, err)
		}
		if err := <-other; err != nil {
			t.Errorf("rank 1: %v", err)
		}
	}
	l.Send(wire.KindStdinEnd, 0, nil)
	l.expect(wire.KindFinished, nil)
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("the coordinator has survived the job")
	}
}

// TestStartAgain starts a rank again while another lives on, and has the coordinator
// go on to the generation that ranks ask for.
func TestStartAgain(t *testing.T) {
	l := startAgent(t, Config{})
	l.send(wire.KindPrepare, wire.Prepare{Program: []string{"sh"}, Dir: "/", Host: "127.0.0.1", Ports: []int{0},
		Serve: &wire.Serve{Size: 2, Token: "secret", Generation: 7}})
	var r wire.Ready
	l.expect(wire.KindReady, &r)
	next := func(generation uint32, met bool) {
		t.Helper()
		l.send(wire.KindNext, nil)
		var n wire.Next
		if l.expect(wire.KindNext, &n); n.Generation != generation || n.Met != met {
			t.Errorf("next is %+v, want generation %d, met: %v", n, generation, met)
		}
	}
	s := wire.Start{
		Ranks: []int{0, 1}, Argv: []string{"sh", "-c", "read line && echo $line"}, Env: [][]string{nil, nil},
		Files: map[string]string{"SECRET": "swordfish"}, Stdin: []int{0, 1}, Keep: true,
	}
	l.send(wire.KindStart, s)
	join := func(rank int, generation uint32) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := rendezvous.Resolve(context.Background(), rendezvous.Config{
				Rank: rank, Size: 2, Coordinator: net.JoinHostPort("127.0.0.1", strconv.Itoa(r.Ports[0])), Served: true,
				Token: []byte("secret"), Generation: generation, StartTimeout: 20 * time.Second,
			}, func([]string) ([]string, error) { return []string{"127.0.0.1:" + strconv.Itoa(1000+rank)}, nil })
			done <- err
		}()
		return done
	}
	meet := func(a, b <-chan error) {
		t.Helper()
		for _, done := range []<-chan error{a, b} {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	next(7, false)
	meet(join(0, 7), join(1, 7))
	next(8, true)
	l.Send(wire.KindStdinEnd, 1, nil) // which makes it fail
	var x wire.Exited
	if f := l.expect(wire.KindExited, &x); f.Rank != 1 || x.Code != 1 {
		t.Errorf("rank %d ended with %+v", f.Rank, x)
	}
	survivor := join(0, 8)
	var re wire.Reforming
	if f := l.expect(wire.KindReforming, &re); f.Rank != 0 || re.Generation != 8 {
		t.Errorf("rank %d re-forms in %+v", f.Rank, re)
	}
	next(8, true)
	s.Ranks, s.Env, s.Stdin = []int{1}, [][]string{nil}, []int{1}
	l.send(wire.KindStart, s)
	if f := l.expect(wire.KindStarted, nil); f.Rank != 1 {
		t.Errorf("rank %d was started", f.Rank)
	}
	meet(survivor, join(1, 8))
	next(9, true)
	for rank := range 2 {
		l.SendData(wire.KindStdin, rank, []byte("good\n"))
		if f := l.expect(wire.KindStdout, nil); f.Rank != rank || string(f.Data) != "good\n" {
			t.Errorf("rank %d said %q", f.Rank, f.Data)
		}
		l.expect(wire.KindFinished, nil)
	}
	l.in.Close()
	go io.Copy(io.Discard, connReader{l.Conn})
	if err := <-l.end; err != nil {
		t.Errorf("agent ended with %v", err)
	}
}

// Folders of agents that were killed are removed by the next one; those of living
// agents are not.
func TestStaleFolders(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	living, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer living.remove()
	killed, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	killed.lock.Close()
	next, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	for f, want := range map[*folder]bool{living: true, killed: false, next: true} {
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

// connReader drains a Conn.
type connReader struct{ c *wire.Conn }

func (r connReader) Read([]byte) (int, error) {
	_, err := r.c.Next()
	return 0, err
}
