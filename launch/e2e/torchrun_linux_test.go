package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTorchrun(t *testing.T) {
	t.Parallel()
	torchrun, err := exec.LookPath("torchrun")
	if err != nil {
		t.Skip("needs torchrun: install PyTorch")
	}
	port := freePort(t, "127.0.0.1")
	cmd := exec.Command(torchrun, "--nproc-per-node", "4", "--master-addr", "127.0.0.1", "--master-port", port, "--no-python",
		ownBin(t), "bench", "allreduce", "--max", "1KiB")
	start(t, cmd).want(t, 0, "4 ranks", "0 OK")
	ring := filepath.Join("..", "..", "examples", "torchrun-variables", "ring.py")
	cmd = exec.Command(torchrun, "--nproc-per-node", "4", "--master-addr", "127.0.0.1", "--master-port", port, ring)
	start(t, cmd).want(t, 0, "the token went around all 4 ranks")
}
