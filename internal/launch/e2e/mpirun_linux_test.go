package e2e

import (
	"os"
	"os/exec"
	"testing"
)

// The command line has nothing that thunder would need; what mpirun itself wants
// to be told on a small machine, as root, is in its environment.
func TestMpirun(t *testing.T) {
	t.Parallel()
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		t.Skip("needs mpirun: install openmpi-bin (scripts/install-test-deps.sh)")
	}
	for _, tt := range []struct {
		name, prog string
		args       []string
		say        []string
	}{
		{"bench", "thunder", []string{"bench", "allreduce", "--max", "1KiB"}, []string{"4 ranks", "0 OK"}},
		{"wrong usage", "thunder", []string{"bench", "nothing"}, []string{"nothing"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(mpirun, append([]string{"-np", "4", ownBin(t)}, tt.args...)...)
			cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
				"OMPI_MCA_rmaps_base_oversubscribe=1", "TMPDIR="+shortDir(t))
			code := 0
			if tt.name != "bench" {
				code = 2
			}
			start(t, cmd).want(t, code, tt.say...)
		})
	}
}

// shortDir is a temporary folder with a name short enough for Unix sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "te")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
