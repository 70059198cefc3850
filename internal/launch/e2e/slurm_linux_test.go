package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"thundercollective/internal/netns"
)

// A slurm is a whole cluster on one machine, in a network namespace of its own.
type slurm struct {
	dir  string
	ns   string
	conf string
}

// newSlurm starts munged, slurmctld and slurmd; the test stops them.
func newSlurm(t *testing.T) *slurm {
	t.Helper()
	for _, prog := range []string{"munged", "slurmctld", "slurmd", "srun", "nsenter"} {
		if _, err := exec.LookPath(prog); err != nil {
			t.Skipf("needs %s: install slurm-wlm and munge (scripts/install-test-deps.sh)", prog)
		}
	}
	s := &slurm{dir: shortDir(t), ns: netns.New(t, 1)[0]}
	command(t, "ip", "-n", s.ns, "link", "set", "lo", "up")
	// Slurm's look-up of addresses works only where there is an interface
	// beside loopback; this one leads nowhere.
	command(t, "ip", "-n", s.ns, "link", "add", "te0", "type", "veth", "peer", "name", "te1")
	command(t, "ip", "-n", s.ns, "addr", "add", "198.51.100.1/24", "dev", "te0")
	command(t, "ip", "-n", s.ns, "link", "set", "te0", "up")
	s.conf = filepath.Join(s.dir, "slurm.conf")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(s.dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, s.conf, strings.NewReplacer("DIR", s.dir, "HOST", host).Replace(`ClusterName=e2e
SlurmctldHost=HOST(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=DIR/munge
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool
SlurmctldPidFile=DIR/ctld.pid
SlurmdPidFile=DIR/d.pid
SlurmctldLogFile=DIR/ctld.log
SlurmdLogFile=DIR/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
SlurmdParameters=config_overrides
PlugStackConfig=/dev/null
NodeName=HOST NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=e2e Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`))
	os.Chmod(s.conf, 0o644)
	writeFile(t, filepath.Join(s.dir, "cgroup.conf"), "CgroupPlugin=autodetect\n")
	writeFile(t, filepath.Join(s.dir, "munge.key"), strings.Repeat("thunder e2e key, loopback only. ", 4))
	file := func(name string) string { return filepath.Join(s.dir, name) }
	t.Cleanup(func() { s.killSteps() })
	s.daemon(t, "munged", "--force", "--foreground", "--socket="+file("munge"), "--key-file="+file("munge.key"),
		"--pid-file="+file("munged.pid"), "--log-file="+file("munged.log"), "--seed-file="+file("munged.seed"))
	eventually(t, 10*time.Second, "munged", func() bool { _, err := os.Stat(file("munge")); return err == nil })
	s.daemon(t, "slurmctld", "-D")
	s.daemon(t, "slurmd", "-D")
	eventually(t, 30*time.Second, "the node is idle", func() bool {
		out, err := s.command("sinfo", "-h", "-o", "%t").Output()
		return err == nil && strings.TrimSpace(string(out)) == "idle"
	})
	return s
}

// command is one that runs in the cluster's namespace.
func (s *slurm) command(argv ...string) *exec.Cmd {
	cmd := exec.Command("nsenter", append([]string{"--net=/run/netns/" + s.ns}, argv...)...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+s.conf)
	return cmd
}

func (s *slurm) daemon(t *testing.T, argv ...string) {
	t.Helper()
	cmd := s.command(argv...)
	out, err := os.Create(filepath.Join(s.dir, argv[0]+".out"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		out.Close()
		if t.Failed() {
			text, _ := os.ReadFile(out.Name())
			t.Logf("%s said:\n%s", argv[0], text)
		}
	})
}

// killSteps ends what a step has left when its controller is gone.
func (s *slurm) killSteps() {
	for _, pid := range running("slurmstepd") {
		if env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); strings.Contains(string(env), s.conf) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func TestSlurm(t *testing.T) {
	t.Parallel()
	s := newSlurm(t)
	bin := ownBin(t)
	start(t, s.command("srun", "-n", "4", bin, "bench", "allreduce", "--max", "1KiB")).want(t, 0, "4 ranks", "0 OK")

	// A batch script is not a rank, although Slurm numbers it; the steps it
	// starts are.
	script := filepath.Join(s.dir, "job.sh")
	out := filepath.Join(s.dir, "job.out")
	writeFile(t, script, fmt.Sprintf("#!/bin/sh\n%s bench allreduce -n 2 --max 1KiB\nsrun -n 3 %s bench barrier --iters 1\n", bin, bin))
	text, err := s.command("sbatch", "--wait", "-n", "3", "-o", out, script).CombinedOutput()
	if err != nil {
		t.Errorf("sbatch: %v\n%s", err, text)
	}
	result, _ := os.ReadFile(out)
	for _, want := range []string{"2 local ranks", "3 ranks on"} {
		if !strings.Contains(string(result), want) {
			t.Errorf("the batch job's output has no %q:\n%s", want, result)
		}
	}
	eventually(t, 20*time.Second, "the queue is empty", func() bool {
		left, err := s.command("squeue", "-h").Output()
		return err == nil && len(left) == 0
	})
}
