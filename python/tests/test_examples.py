"""The examples, with small sizes."""

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    "line",
    [
        "torch_ddp.py --width 32 --depth 2 --steps 4",
        "torch_fsdp_lora.py --width 32 --depth 2 --heads 2 --steps 3",
        "torch_tp_generate.py --width 16 --depth 1 --steps 3 --tokens 4 --check",
    ],
)
def test_torch(ranks, line):
    pytest.importorskip("torch", reason="SKIP: torch is not installed")
    name, *args = line.split()
    assert ranks(str(EXAMPLES / name), 2, *args, torch=True)[0].strip()


def test_mlx(ranks):
    pytest.importorskip("mlx.core", reason="SKIP: mlx is not installed")
    out = ranks(str(EXAMPLES / "mlx_average_gradients.py"), 2)[0]
    before, after = map(float, out.split("loss")[1].split("->"))
    assert after < before / 2
