"""Checks the installation by running every operation on local ranks.

    python -m thundercollective.selftest -n 4
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

import thundercollective as dist

from ._local import run_ranks

_DTYPES = ("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_LENGTHS = (0, 1, 13, 10_000)


def _expect(name: str, got: object, want: object) -> None:
    if not np.array_equal(np.asarray(got), np.asarray(want)):
        raise AssertionError(f"{name}: got {got}, want {want}")


def _rank(g: dist.Group) -> int:
    """Runs all operations as one rank; returns the number of results checked."""
    n, r, checked = g.size(), g.rank(), 0

    def check(name: str, got: object, want: object) -> None:
        nonlocal checked
        _expect(name, got, want)
        checked += 1

    for dtype in _DTYPES:
        for length in _LENGTHS:
            of = [(np.arange(length * n) % 5 + k).astype(dtype) for k in range(n)]  # by rank
            mine, name = of[r], f"{dtype}[{length}]"
            total = np.sum(of, axis=0).astype(dtype)
            check(f"all_sum {name}", dist.all_sum(mine), total)
            check(f"all_max {name}", dist.all_max(mine), of[n - 1])
            check(f"all_min {name}", dist.all_min(mine), of[0])
            check(f"all_gather {name}", dist.all_gather(mine), np.concatenate(of))
            check(f"reduce_scatter {name}", dist.reduce_scatter(mine), total[r * length : (r + 1) * length])
            check(f"broadcast {name}", dist.broadcast(mine, n - 1), of[n - 1])
            parts = [x.reshape(n, length)[r] for x in of]
            check(f"all_to_all {name}", dist.all_to_all(mine), np.concatenate(parts))
            if n > 1 and r < 2:
                if r == 0:
                    dist.send(mine, 1)
                else:
                    check(f"recv_like {name}", dist.recv_like(mine, 0), of[0])
    half = g.split(r % 2)
    assert half is not None
    check("split", dist.all_sum(np.array([1.0]), group=half), [half.size()])
    half.close()
    tree = dist.average_gradients({"a": [np.full(3, float(r)), np.full((2, 2), 2.0 * r)], "b": np.float32(r)})
    check("average_gradients", tree["a"][1], np.full((2, 2), float(n - 1)))
    dist.barrier()
    return checked


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m thundercollective.selftest", description="Checks every operation on local ranks.")
    parser.add_argument("-n", type=int, default=2, help="number of ranks (default 2)")
    parser.add_argument("--as-rank", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.as_rank:
        print(_rank(dist.init()))
        return 0
    if args.n < 1:
        parser.error("-n must be at least 1")
    start = time.monotonic()
    results = run_ranks(["-m", "thundercollective.selftest", "--as-rank"], args.n)
    failed = [(r, p) for r, p in enumerate(results) if p.returncode]
    for r, p in failed:
        print(f"rank {r} failed:\n{p.stdout}", file=sys.stderr)
    if failed:
        return 1
    checked = sum(int(p.stdout.split()[-1]) for p in results)
    print(f"ok: {args.n} ranks, {checked} results checked, {time.monotonic() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
