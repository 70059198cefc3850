"""Operations on the arrays of each library."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("n", [1, 2, 3])
def test_numpy(ranks, n):
    ranks("arrays.py", n, "numpy")


@pytest.mark.parametrize("library", ["torch", "mlx"])
def test_other_libraries(ranks, library):
    pytest.importorskip("torch" if library == "torch" else "mlx.core", reason=f"SKIP: {library} is not installed")
    ranks("arrays.py", 2, library)


def test_selftest():
    p = subprocess.run([sys.executable, "-m", "thundercollective.selftest", "-n", "4"], capture_output=True, text=True, timeout=120)
    assert p.returncode == 0 and p.stdout.startswith("ok: 4 ranks"), p.stdout + p.stderr
