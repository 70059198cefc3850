"""Runs programs as the ranks of a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from thundercollective._local import run_ranks

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def ranks() -> Callable[..., list[str]]:
    """Runs a program in the directory programs as n ranks, which must exit with 0 or with
    their code in codes. Returns their outputs."""

    def run(
        program: str, n: int, *args: str, torch: bool = False, codes: Mapping[int, int] | None = None,
        env: Mapping[str, str] | None = None, timeout: float = 120,
    ) -> list[str]:
        path = program if program.startswith("/") else str(PROGRAMS / program)
        results = run_ranks([path, *args], n, torch=torch, env={"OMP_NUM_THREADS": "1", **(env or {})}, timeout=timeout)
        for r, p in enumerate(results):
            want = (codes or {}).get(r, 0)
            assert p.returncode == want, f"rank {r} of {n} exited {p.returncode}, not {want}:\n{p.stdout}"
        return [p.stdout for p in results]

    return run
