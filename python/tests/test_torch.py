"""The PyTorch backend: every operation, and training."""

import pytest

pytest.importorskip("torch", reason="SKIP: torch is not installed")


@pytest.mark.parametrize("n", [2, 3])
def test_operations_equal_gloo(ranks, n):
    ranks("torch_parity.py", n, torch=True)


def test_training_equals_gloo(ranks):
    ranks("torch_train.py", 2, "ddp", "fsdp", "tp", "pipeline", torch=True)
