package agent

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"thundercollective/internal/launch/wire"
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

// connReader drains a Conn.
type connReader struct{ c *wire.Conn }

func (r connReader) Read([]byte) (int, error) {
	_, err := r.c.Next()
	return 0, err
}
