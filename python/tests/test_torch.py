"""The PyTorch backend: every operation, training, and the examples."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="SKIP: torch is not installed")

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("n", [2, 3])
def test_operations_equal_gloo(ranks, n):
    ranks("torch_parity.py", n, torch=True)


@pytest.mark.parametrize("how", ["ddp", "fsdp", "tp", "pipeline"])
def test_training_equals_gloo(ranks, how):
    ranks("torch_train.py", 2, how, torch=True)
