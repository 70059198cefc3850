package launch

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"thundercollective/internal/launch/agent"
	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/output"
	"thundercollective/internal/launch/remote"
	"thundercollective/internal/launch/wire"
)

// The test binary is its own agent, and the program of TestRestarts and TestCulprit.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "launch-rank" {
		os.Exit(rankMain(os.Args[2]))
	}
	if len(os.Args) == 3 && os.Args[1] == "launch-culprit" {
		os.Exit(culpritMain(os.Args[2]))
	}
	if len(os.Args) > 1 && os.Args[1] == "launch-agent" {
		if err := agent.Main(context.Background(), agent.Config{Version: "test"}); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// job is a local job of shell scripts; its streams end in the two buffers.
func job(ranks int, sh string) (cfg Config, out, errs *bytes.Buffer) {
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	return Config{
		Hosts:   []hosts.Host{{Name: "localhost", Slots: ranks}},
		Argv:    []string{"sh", "-c", sh},
		Agents:  remote.Config{Agent: []string{os.Args[0], "launch-agent"}},
		Version: "test",
		Linger:  100 * time.Millisecond,
		Output:  output.Config{Stdout: out, Stderr: errs, Tag: true},
	}, out, errs
}

func TestRun(t *testing.T) {
	cfg, out, errs := job(2, `echo "$RANK of $WORLD_SIZE, $MORE"`)
	cfg.Env = []string{"MORE=and more"}
	if err := Run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(out.String(), "\n")
	slices.Sort(lines)
	if want := []string{"", "0@localhost | 0 of 2, and more\n", "1@localhost | 1 of 2, and more\n"}; !slices.Equal(lines, want) || errs.Len() != 0 {
		t.Errorf("got %q and %q", lines, errs)
	}
}

func TestRunErrors(t *testing.T) {
	interrupts := make(chan os.Signal, 2)
	interrupts <- os.Interrupt
	interrupts <- os.Interrupt
	for _, tt := range []struct {
		name string
		sh   string
		edit func(*Config)
		code int
		want any // type of the error
		say  string
	}{
		{"rank fails", `[ $RANK = 0 ] && { echo why; exit 3; }; exec sleep 100`, nil, 3, &RankError{}, "rank 0 on localhost failed first: it exited with code 3"},
		{"timeout", `exec sleep 100`, func(c *Config) { c.Timeout = 200 * time.Millisecond }, 124, &TimeoutError{}, "not finished after 200ms"},
		{"interrupt", `exec sleep 100`, func(c *Config) { c.Interrupts = interrupts }, 130, &InterruptError{}, "ended by interrupt"},
		{"no program", ``, func(c *Config) { c.Argv = []string{"no-such-program"} }, 127, &SetupError{}, "no-such-program"},
		{"version", `:`, func(c *Config) { c.Version = "other" }, 1, &VersionError{}, "other on this machine"},
		{"no agent", `:`, func(c *Config) { c.Agents.Agent = []string{"/no/such/agent"} }, 1, &remote.HostError{}, "cannot start an agent"},
		{"agent is something else", `:`, func(c *Config) { c.Agents.Agent = []string{"sh", "-c", "echo hi; echo oops >&2"} }, 1, &remote.HostError{}, "oops"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, _, errs := job(2, tt.sh)
			if tt.edit != nil {
				tt.edit(&cfg)
			}
			err := Run(t.Context(), cfg)
			if !errors.As(err, reflect.New(reflect.TypeOf(tt.want)).Interface()) {
				t.Errorf("got %v (%T), want a %T", err, err, tt.want)
			}
			if code := ExitCode(err); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if !strings.Contains(errs.String(), tt.say) {
				t.Errorf("%q does not say %q", errs, tt.say)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	list, err := hosts.ParseList("localhost,a,b")
	if err != nil {
		t.Fatal(err)
	}
	withRails := slices.Clone(list)
	withRails[1].Addrs = []string{"10.9.0.1", "10.8.0.1"}
	addr := func(ips ...string) (as []wire.Addr) {
		for _, ip := range ips {
			as = append(as, wire.Addr{IP: ip})
		}
		return as
	}
	for _, tt := range []struct {
		name   string
		list   []hosts.Host
		hellos []wire.Hello
		want   []string
	}{
		{"alone", list[:1], []wire.Hello{{Addrs: addr("10.0.0.1")}}, []string{"127.0.0.1"}},
		{"as ssh sees it", list, []wire.Hello{{}, {Peer: "10.0.0.1", Self: "10.0.0.2"}, {Peer: "10.0.0.1", Self: "10.0.0.3"}}, []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}},
		{"as the hostfile says", withRails, []wire.Hello{{}, {Self: "10.0.0.2"}, {Peer: "10.0.0.1", Self: "10.0.0.3"}}, []string{"10.0.0.1", "10.9.0.1", "10.0.0.3"}},
		{"all on loopback", list, []wire.Hello{{}, {Peer: "127.0.0.1", Self: "127.0.0.1"}, {Peer: "127.0.0.1", Self: "127.0.0.2"}}, []string{"127.0.0.1", "127.0.0.1", "127.0.0.2"}},
		{"one through a tunnel", list, []wire.Hello{{}, {Peer: "10.0.0.1", Self: "10.0.0.2"}, {Peer: "127.0.0.1", Self: "127.0.0.1", Addrs: addr("10.0.0.3")}}, []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}},
		{"nothing known", list, []wire.Hello{{Addrs: addr("10.0.0.1")}, {}, {}}, []string{"10.0.0.1", "a", "b"}},
	} {
		if got := addresses(tt.list, hosts.Place(tt.list), tt.hellos); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestProgram(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  Config
		argv []string
		ways []string // nil: not checked
	}{
		{"plain", Config{Argv: []string{"prog", "x"}}, []string{"prog", "x"}, []string{"prog"}},
		{"python", Config{Argv: []string{"train.py", "x"}, Python: "python3.12"}, []string{"python3.12", "train.py", "x"}, []string{"python3.12"}},
		{"copied", Config{Argv: []string{"doc.go"}, Copy: []string{"doc.go"}}, []string{"./doc.go"}, []string{"./doc.go"}},
		{"in a copied folder", Config{Argv: []string{"wire/doc.go"}, Copy: []string{"wire"}}, []string{"./wire/doc.go"}, []string{"./wire/doc.go"}},
		{"everything copied", Config{Argv: []string{"wire/doc.go"}, Copy: []string{"."}}, []string{"./wire/doc.go"}, nil},
		{"copied from above", Config{Argv: []string{"../../go.mod"}, Copy: []string{"../../go.mod"}}, []string{"./go.mod"}, nil},
		{"not in the copy", Config{Argv: []string{"sh"}, Copy: []string{"wire"}}, []string{"sh"}, []string{"sh"}},
	} {
		p := tt.cfg.program()
		if !slices.Equal(p.argv, tt.argv) || tt.ways != nil && !slices.Equal(p.ways, tt.ways) {
			t.Errorf("%s: argv %q, ways %q, want %q and %q", tt.name, p.argv, p.ways, tt.argv, tt.ways)
		}
	}
	self := (&Config{Argv: []string{"thunder", "bench"}}).program()
	if got := self.alternatives(wire.Hello{Path: "/x/thunder"}); !slices.Equal(got, []string{"/x/thunder"}) {
		t.Errorf("thunder is %q", got)
	}
}

func TestPack(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, d := range []string{"p/sub", "q"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"p/sub/run": 0o755, "p/data": 0o644, "q/other": 0o600} {
		if err := os.WriteFile(name, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("data", "p/link"); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := pack(&b, []string{"p/sub/run", "p", filepath.Join(dir, "q", "other")}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(&b); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(r); h.Typeflag == tar.TypeReg && string(body) != h.Name {
			t.Errorf("%s contains %q", h.Name, body)
		}
		if h.Uname != "" || h.Uid != 0 {
			t.Errorf("%s belongs to %q", h.Name, h.Uname)
		}
		names = append(names, strings.TrimSuffix(h.Name, "/"))
	}
	if want := []string{"p", "p/sub", "p/sub/run", "p/data", "p/link", "q", "q/other"}; !slices.Equal(names, want) {
		t.Errorf("packed %q, want %q", names, want)
	}
	if err := pack(io.Discard, []string{"none"}); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("missing file: %v", err)
	}
}

func TestNativeConfig(t *testing.T) {
	cfg, _, _ := job(2, "")
	cfg.Argv = nil
	for format, want := range map[string]string{"mlx": `"127.0.0.1"`, "torch": "--nproc-per-node=2", "nccl": "NCCL_SOCKET_IFNAME==lo", "llamacpp": "--rpc 127.0.0.1:50053"} {
		if got, err := NativeConfig(t.Context(), cfg, format); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, %v, want %q", format, got, err, want)
		}
	}
}
