package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// twoHosts are hosts a and b, for a job of four ranks on them.
func twoHosts(t *testing.T) *farm {
	return newFarm(t, &sshHost{name: "a", addr: "127.0.0.1"}, &sshHost{name: "b", addr: "127.0.0.2"})
}

func TestFourRanksOnTwoHosts(t *testing.T) {
	t.Parallel()
	f := twoHosts(t)
	logs := filepath.Join(t.TempDir(), "logs")
	l := f.launch(t, "--hosts", "a:2,b:2", "--log-dir", logs, "--env", "GREETING=good day", "--cwd", "/usr", "--",
		"sh", "-c", `echo "$GREETING from $SSHD_NAME, $LOCAL_RANK of $LOCAL_WORLD_SIZE, in $PWD"; echo oops >&2; printf end`)
	l.want(t, 0)
	for r, host := range []string{"a", "a", "b", "b"} {
		for _, line := range []string{fmt.Sprintf("%d@%s | good day from %s, %d of 2, in /usr\n", r, host, host, r%2), fmt.Sprintf("%d@%s | end\n", r, host)} {
			if !strings.Contains(l.out.String(), line) {
				t.Errorf("stdout has no %q:\n%s", line, l.out.String())
			}
		}
		if line := fmt.Sprintf("%d@%s | oops\n", r, host); !strings.Contains(l.errs.String(), line) {
			t.Errorf("stderr has no %q:\n%s", line, l.errs.String())
		}
		log, err := os.ReadFile(filepath.Join(logs, fmt.Sprintf("rank-%d.log", r)))
		if err != nil || !strings.Contains(string(log), "good day from "+host) || !strings.Contains(string(log), "oops\n") || !strings.HasSuffix(string(log), "end") && !strings.HasSuffix(string(log), "oops\n") {
			t.Errorf("log of rank %d: %q, %v", r, log, err)
		}
	}
}

// However a job ends, five seconds later nothing of it is left on any host.
func TestEnds(t *testing.T) {
	t.Parallel()
	const forever = `while :; do sleep 1; done`
	for _, tt := range []struct {
		name string
		then string
		do   func(t *testing.T, f *farm, l *launched, ranks []int) // once all ranks are up
		code int
		say  []string
	}{
		{"rank exits with 3", `[ $RANK = 2 ] && { echo bad news; exit 3; }; ` + forever, nil, 3,
			[]string{"2@b | bad news", "rank 2 on b failed first: it exited with code 3", "  bad news", "rank 0 on a was killed by SIGKILL"}},
		{"rank is killed", forever, func(_ *testing.T, _ *farm, _ *launched, ranks []int) { syscall.Kill(ranks[1], syscall.SIGKILL) }, 128 + 9,
			[]string{"rank 1 on a failed first: it was killed by SIGKILL"}},
		{"rank fails and the others notice", `[ $RANK = 3 ] && exit 4; sleep 0.3; echo "$RANK lost rank 3"; exit 1`, nil, 4,
			[]string{"rank 3 on b failed first", "0@a | 0 lost rank 3", "2@b | 2 lost rank 3", "rank 0 on a exited with code 1"}},
		{"interrupt", `trap 'echo "$RANK stops"; exit 0' TERM; ` + `while :; do sleep 0.1; done`, interrupt, 128 + 2,
			[]string{"0@a | 0 stops", "3@b | 3 stops", "ended by interrupt"}},
		{"interrupt, ranks ignore it", forever, interrupt, 128 + 2, []string{"rank 3 on b was killed by SIGKILL"}},
		{"two interrupts", forever, func(t *testing.T, f *farm, l *launched, _ []int) {
			interrupt(t, f, l, nil)
			interrupt(t, f, l, nil)
		}, 128 + 2, []string{"rank 0 on a was killed by SIGKILL"}},
		{"launcher is killed", forever, func(_ *testing.T, _ *farm, l *launched, _ []int) { l.cmd.Process.Kill() }, -1, nil},
		{"connection is cut", forever, func(t *testing.T, f *farm, _ *launched, _ []int) { cut(t, f.hosts["b"]) }, 1,
			[]string{"b: it closed the connection", "rank 0 on a was killed by SIGKILL", "rank 2 on b was lost with its machine"}},
		{"agent is killed", forever, func(t *testing.T, f *farm, l *launched, _ []int) {
			syscall.Kill(agentOf(t, l, f.hosts["b"]), syscall.SIGKILL)
		}, 1,
			[]string{"b: lost the agent"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, c := twoHosts(t), newCensus(t)
			l := f.launch(t, append([]string{"--hosts", "a:2,b:2", "--"}, c.script(tt.then)...)...)
			ranks, all := c.processes(t, 4)
			eventually(t, 20*time.Second, "ranks are up", func() bool { return strings.Count(l.out.String(), "is up") == 4 })
			since := clock.Given()
			if tt.do != nil {
				tt.do(t, f, l, ranks)
			}
			l.gone(t, since, all)
			l.want(t, tt.code, tt.say...)
			if s := l.out.String() + l.errs.String(); strings.Contains(strings.ToLower(s), "token") {
				t.Errorf("output speaks of a token:\n%s", s)
			}
		})
	}
}

func interrupt(t *testing.T, _ *farm, l *launched, _ []int) {
	if err := l.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	// Two signals that are pending at once are one.
	eventually(t, 10*time.Second, "the signal is taken", func() bool { return !pending(l.cmd.Process.Pid, syscall.SIGINT) })
}

// cut ends the connections of a host on the server's side.
func cut(t *testing.T, h *sshHost) {
	t.Helper()
	sessions := children(h.pid)
	if len(sessions) == 0 {
		t.Errorf("%s has no connection", h.name)
	}
	for _, pid := range sessions {
		for _, child := range children(pid) {
			if strings.Contains(cmdline(child), "sshd") { // the unprivileged half
				syscall.Kill(child, syscall.SIGKILL)
			}
		}
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// agentOf is the agent behind a host's only connection.
func agentOf(t *testing.T, l *launched, h *sshHost) int {
	t.Helper()
	for _, pid := range running(l.bin) {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if strings.Contains(string(env), "SSHD_NAME="+h.name) && strings.HasPrefix(cmdline(pid), l.bin) {
			return pid
		}
	}
	t.Fatalf("%s has no agent", h.name)
	return 0
}

func TestUnusableHosts(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.3:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	other := filepath.Join(work, "other")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := build(filepath.Join(other, "thunder"), "v0.0.1-other"); err != nil {
		t.Fatal(err)
	}
	onlyA := t.TempDir()
	writeFile(t, onlyA+"/only-on-a", "#!/bin/sh\nexit 0\n")
	os.Chmod(onlyA+"/only-on-a", 0o755)
	f := newFarm(t,
		&sshHost{name: "a", addr: "127.0.0.1", path: onlyA + ":" + work + ":/usr/bin:/bin"},
		&sshHost{name: "b", addr: "127.0.0.2"},
		&sshHost{name: "asks", addr: "127.0.0.1", extra: "PubkeyAuthentication no\nPasswordAuthentication yes"},
		&sshHost{name: "old", addr: "127.0.0.1", path: other + ":/usr/bin:/bin"},
		&sshHost{name: "bare", addr: "127.0.0.1", path: "/usr/bin:/bin", extra: "SetEnv HOME=/nonexistent"},
	)
	_, silentPort, _ := net.SplitHostPort(silent.Addr().String())
	config, _ := os.ReadFile(f.config)
	writeFile(t, f.config, fmt.Sprintf("Host refuses\n  HostName 127.0.0.1\n  Port %s\nHost silent\n  HostName 127.0.0.3\n  Port %s\nHost stranger\n  HostName 127.0.0.2\n  Port %s\n  UserKnownHostsFile /dev/null\n%s",
		freePort(t, "127.0.0.1"), silentPort, f.hosts["b"].port, config))
	takenPort := portRange(t, 8)
	taken, err := net.Listen("tcp", "127.0.0.2:"+takenPort)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	for _, tt := range []struct {
		name  string
		args  []string
		code  int
		say   []string
		limit time.Duration
	}{
		{"asks for a password", []string{"--hosts", "a,asks", "--", "true"}, 1, []string{"asks: it does not accept your key, or asks for a password", "ssh-copy-id asks"}, 8 * time.Second},
		{"refuses", []string{"--hosts", "a,refuses", "--", "true"}, 1, []string{"refuses: it runs no ssh server"}, 8 * time.Second},
		{"does not answer", []string{"--hosts", "a,silent", "--", "true"}, 1, []string{"silent: it does not answer"}, 15 * time.Second},
		{"does not exist", []string{"--hosts", "a,no-such-host.invalid", "--", "true"}, 1, []string{"no-such-host.invalid: no such host"}, 15 * time.Second},
		{"host key unknown", []string{"--hosts", "a,stranger", "--", "true"}, 1, []string{"stranger: its host key is not known", "ssh stranger"}, 8 * time.Second},
		{"without thunder", []string{"--hosts", "a,bare", "--", "true"}, 1, []string{"bare: thunder is not installed there"}, 8 * time.Second},
		{"two at once", []string{"--hosts", "refuses,asks", "--", "true"}, 1, []string{"refuses: it runs", "asks: it does not"}, 8 * time.Second},
		{"another version", []string{"--hosts", "a,old", "--", "true"}, 1, []string{"versions of thunder differ", "on a (", "v0.0.1-other", "on old ("}, 8 * time.Second},
		{"program on one host only", []string{"--hosts", "a,b", "--", "only-on-a"}, 127, []string{"b: ", `"only-on-a"`, "not found"}, 8 * time.Second},
		{"no such folder", []string{"--hosts", "a,b", "--cwd", "/no/such/folder", "--", "true"}, 1, []string{"working directory", "/no/such/folder"}, 8 * time.Second},
		{"port taken", []string{"--hosts", "a,b", "--port", takenPort, "--", "true"}, 1, []string{"b: port " + takenPort + " is taken"}, 8 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			since := clock.Given()
			l := f.launch(t, append([]string{"--thunder", "thunder"}, tt.args...)...)
			l.want(t, tt.code, tt.say...)
			if d := clock.Given() - since; d > tt.limit {
				t.Errorf("took %v, more than %v", d, tt.limit)
			}
			l.gone(t, clock.Given(), nil)
		})
	}
}
