package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// An sshHost is a "machine" of a test: an sshd of its own, on a loopback address
// of its own, with a search path of its own.
type sshHost struct {
	name, addr, port string
	path             string // search path of its sessions
	extra            string // more of sshd's configuration
	inside           []string
	pid              int
}

// A farm is the machines of a test and the ssh client's configuration for them.
type farm struct {
	dir    string
	config string // of ssh
	hosts  map[string]*sshHost
}

// newFarm starts an sshd per host; the test stops them.
func newFarm(t *testing.T, hosts ...*sshHost) *farm {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		if sshd = "/usr/sbin/sshd"; !executable(sshd) {
			t.Skip("needs sshd: install openssh-server (scripts/install-test-deps.sh)")
		}
	}
	f := &farm{dir: t.TempDir(), hosts: map[string]*sshHost{}}
	f.config = filepath.Join(f.dir, "ssh_config")
	os.Chmod(f.dir, 0o700)
	for _, key := range []string{"host_key", "user_key"} {
		command(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(f.dir, key))
	}
	copyFile(t, filepath.Join(f.dir, "user_key.pub"), filepath.Join(f.dir, "authorized_keys"))
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	var config, known strings.Builder
	hostKey, err := os.ReadFile(filepath.Join(f.dir, "host_key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hosts {
		f.start(t, sshd, h)
		f.hosts[h.name] = h
		fmt.Fprintf(&config, "Host %s\n  HostName %s\n  Port %s\n", h.name, h.addr, h.port)
		fmt.Fprintf(&known, "[%s]:%s %s", h.addr, h.port, hostKey)
	}
	fmt.Fprintf(&config, "Host *\n  User %s\n  IdentityFile %s/user_key\n  IdentitiesOnly yes\n  UserKnownHostsFile %s/known_hosts\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n",
		me.Username, f.dir, f.dir)
	writeFile(t, f.config, config.String())
	writeFile(t, filepath.Join(f.dir, "known_hosts"), known.String())
	return f
}

// launch starts a job on this farm, with the same thunder on all hosts.
func (f *farm) launch(t *testing.T, args ...string) *launched {
	t.Helper()
	bin := ownBin(t)
	return start(t, exec.Command(bin, append([]string{"launch", "--ssh", "ssh -F " + f.config, "--thunder", bin}, args...)...))
}

func (f *farm) start(t *testing.T, sshd string, h *sshHost) {
	t.Helper()
	if h.port == "" {
		h.port = freePort(t, h.addr)
	}
	if h.path == "" {
		h.path = work + ":/usr/local/bin:/usr/bin:/bin"
	}
	config := filepath.Join(f.dir, h.name+".sshd_config")
	writeFile(t, config, fmt.Sprintf(`ListenAddress %s:%s
HostKey %s/host_key
PidFile %s/%s.pid
AuthorizedKeysFile %s/authorized_keys
StrictModes no
UsePAM no
PermitRootLogin yes
KbdInteractiveAuthentication no
PrintMotd no
MaxStartups 100
SetEnv PATH=%s SSHD_NAME=%s TMPDIR=%s
%s
`, h.addr, h.port, f.dir, f.dir, h.name, f.dir, h.path, h.name, work, h.extra))
	argv := append(append([]string{}, h.inside...), sshd, "-D", "-e", "-f", config)
	cmd := exec.Command(argv[0], argv[1:]...)
	log, err := os.Create(filepath.Join(f.dir, h.name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.pid = cmd.Process.Pid
	t.Cleanup(func() {
		for _, pid := range descendants(h.pid) { // its connections
			syscall.Kill(pid, syscall.SIGKILL)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("log of %s:\n%s", h.name, text)
		}
	})
	eventually(t, 10*time.Second, "sshd of "+h.name, func() bool {
		_, err := os.Stat(filepath.Join(f.dir, h.name+".pid"))
		return err == nil
	})
}

// privilegeSeparationDir makes the folder that an sshd of root insists on, where
// the distribution's start-up script has not.
func privilegeSeparationDir() (remove func()) {
	const dir = "/run/sshd"
	if os.Getuid() != 0 || os.Mkdir(dir, 0o755) != nil {
		return func() {}
	}
	return func() { os.Remove(dir) }
}

func freePort(t *testing.T, addr string) string {
	t.Helper()
	ln, err := net.Listen("tcp", net.JoinHostPort(addr, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	return port
}

// ports counts the ranges that portRange has given out.
var ports atomic.Int64

// portRange is the first of n ports that are free on the loopback addresses of
// the tests, and that the kernel does not hand out to others by itself.
func portRange(t *testing.T, n int) string {
	t.Helper()
	for range 500 {
		first := 12000 + (int64(os.Getpid())*64+ports.Add(1)*16)%8000
		free := true
		for i := range n {
			for _, addr := range []string{"127.0.0.1", "127.0.0.2"} {
				ln, err := net.Listen("tcp", fmt.Sprintf("%s:%d", addr, first+int64(i)))
				if err != nil {
					free = false
					continue
				}
				ln.Close()
			}
		}
		if free {
			return fmt.Sprint(first)
		}
	}
	t.Fatal("no free ports")
	return ""
}

func executable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode()&0o111 != 0
}

func command(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, to, string(b))
}
