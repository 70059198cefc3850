"""Errors become exceptions, in time, that tell what happened."""

import pytest


@pytest.mark.parametrize("kind", ["disagree", "late", "interrupt", "fork", "kill", "uncaught"])
def test_arrays(ranks, kind):
    ranks("trouble.py", 2, "numpy", kind, codes={"kill": {1: -9}, "uncaught": {1: 1}}.get(kind), timeout=60)


def test_torch(ranks):
    pytest.importorskip("torch", reason="SKIP: torch is not installed")
    kinds = ["disagree", "late", "interrupt", "interrupt_async", "fork", "kill"]
    outputs = ranks("trouble.py", 2, "torch", *kinds, torch=True, codes={1: -9}, timeout=120)
    for kind in kinds:
        assert f"{kind} ok" in outputs[0]


def test_torch_uncaught(ranks):
    pytest.importorskip("torch", reason="SKIP: torch is not installed")
    outputs = ranks("trouble.py", 2, "torch", "uncaught", torch=True, codes={1: 1}, timeout=120)
    assert "uncaught ok" in outputs[0]
