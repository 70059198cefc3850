package lab_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"thundercollective/internal/cabling/lab"
)

// openMPI measures Open MPI's all-reduce between the two hosts of a lab over their
// first cable, and returns the median time of each size in seconds; nil, and says so,
// where there is no Open MPI.
func openMPI(t *testing.T, l *lab.Lab, sizes ...int) map[int]float64 {
	t.Helper()
	dir, err := os.MkdirTemp("", "mpi") // sockets in it must not have long names
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "mpi")
	if out, err := exec.Command("mpicc", "-O2", "-o", program, "../../bench/peers/programs/mpi.c").CombinedOutput(); err != nil {
		t.Logf("SKIPPED: Open MPI is not measured beside it: needs mpicc and mpirun (apt install libopenmpi-dev openmpi-bin): %v %s", err, bytes.TrimSpace(out))
		return nil
	}
	// Hosts have names of their own, or Open MPI would mix them up. What mpirun
	// takes for ssh enters the other host's namespace: HOST COMMAND...
	named := `hostname "$0"; export TMPDIR=` + dir + `/$0; mkdir -p "$TMPDIR"; `
	agent := filepath.Join(dir, "agent")
	text := fmt.Sprintf("#!/bin/sh\nshift\nexec ip netns exec %s unshare --uts sh -c '%seval \"$1\"' %[1]s \"$*\"\n", l.Host(1), named)
	if err := os.WriteFile(agent, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	argv := []string{"unshare", "--uts", "sh", "-c", named + `exec "$@"`, l.Host(0),
		"mpirun", "-np", "2", "--host", l.Addr(0, 0) + ":1," + l.Addr(0, 1) + ":1", "--bind-to", "none",
		"--mca", "plm_rsh_agent", agent, "--mca", "oob_tcp_if_include", l.Device(0),
		"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", l.Device(0), program, "allreduce"}
	for _, n := range sizes {
		argv = append(argv, fmt.Sprint(n))
	}
	cmd := l.Command(0, argv...)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("Open MPI: %v\n%s", err, errs.String())
	}
	times := map[int]float64{}
	for line := range strings.Lines(out.String()) {
		var n int
		var micros float64
		if _, err := fmt.Sscan(line, &n, &micros); err != nil {
			t.Fatalf("Open MPI printed %q: %v", line, err)
		}
		times[n] = micros / 1e6
	}
	if len(times) != len(sizes) {
		t.Fatalf("Open MPI measured %d of %d sizes:\n%s", len(times), len(sizes), out.String())
	}
	return times
}
