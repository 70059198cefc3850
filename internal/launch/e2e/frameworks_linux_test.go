package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// pythonTool finds a program that comes with a Python package, in the search path
// or in the environment that scripts/python-env.sh makes.
func pythonTool(t *testing.T, name, of string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	envs := []string{os.Getenv("THUNDER_PYTHON_ENV")}
	if cache, err := os.UserCacheDir(); err == nil {
		more, _ := filepath.Glob(filepath.Join(cache, "thundercollective", "python-*"))
		envs = append(envs, more...)
	}
	for _, env := range envs {
		if path := filepath.Join(env, "bin", name); executable(path) {
			return path
		}
	}
	t.Skipf("needs %s: install %s (scripts/python-env.sh)", name, of)
	return ""
}

// The real thing, at both ends: ranks of ours under their launchers, and their
// programs under ours.
func TestTorchrun(t *testing.T) {
	t.Parallel()
	torchrun := pythonTool(t, "torchrun", "PyTorch")
	common := func() []string {
		return []string{"--nproc-per-node", "4", "--master-addr", "127.0.0.1", "--master-port", portRange(t, 2)} // it keeps one to itself, the example takes the next
	}
	bench := append(common(), "--no-python", ownBin(t), "bench", "allreduce", "--size", "1KiB")
	start(t, exec.Command(torchrun, bench...)).want(t, 0, "4 ranks", "0 OK")
	ring := append(common(), filepath.Join("..", "..", "..", "examples", "torchrun-variables", "ring.py"))
	start(t, exec.Command(torchrun, ring...)).want(t, 0, "the token went around all 4 ranks")
}

func TestMLXLaunch(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(pythonTool(t, "mlx.launch", "MLX"), "-n", "4", "--backend", "ring", "--starting-port", portRange(t, 4), ownBin(t), "bench", "allreduce", "--size", "1KiB")
	start(t, cmd).want(t, 0, "4 ranks", "0 OK")
}

func TestFrameworksUnderLaunch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, tool, of, script, say string }{
		{"torch", "torchrun", "PyTorch", `import torch, torch.distributed as dist
dist.init_process_group("gloo")
x = torch.tensor([float(dist.get_rank())])
dist.all_reduce(x)
print(f"torch {dist.get_rank()} of {dist.get_world_size()}: {x.item()}")
dist.destroy_process_group()
`, "torch 3 of 4: 6.0"},
		{"mlx", "mlx.launch", "MLX", `import mlx.core as mx
group = mx.distributed.init(strict=True, backend="ring")
x = mx.distributed.all_sum(mx.array([float(group.rank())]), group=group)
print(f"mlx {group.rank()} of {group.size()}: {x.item()}")
`, "mlx 3 of 4: 6.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			python := filepath.Join(filepath.Dir(pythonTool(t, tt.tool, tt.of)), "python3")
			if !executable(python) {
				t.Skipf("needs the python3 of %s", tt.of)
			}
			script := filepath.Join(t.TempDir(), "sum.py")
			writeFile(t, script, tt.script)
			thunder(t, "launch", "-n", "4", "--python", python, script).want(t, 0, tt.say)
			twoHosts(t).launch(t, "--hosts", "a:2,b:2", "--python", python, script).want(t, 0, tt.say)
		})
	}
}
