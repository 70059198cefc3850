"""Measures all-reduce and a DDP step in PyTorch, with thunder and with Gloo.

    python -m thundercollective.torch.bench -n 2

It measures both backends in the same processes, in turns, so that other load on the
machine affects both. A time is that of the slowest rank, in the best of several rounds.
Results are checked.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from .._local import run_ranks

_BACKENDS = ("thunder", "gloo")
_ROUNDS = 5


def _best(groups: dict[str, Any], f: Callable[[Any], None], iterations: int) -> dict[str, float]:
    """Returns the seconds of one call, by backend."""
    import torch
    import torch.distributed as dist

    best = dict.fromkeys(_BACKENDS, float("inf"))
    for _ in range(_ROUNDS):
        for name in _BACKENDS:
            f(groups[name])
            dist.barrier()
            start = time.perf_counter()
            for _ in range(iterations):
                f(groups[name])
            took = torch.tensor((time.perf_counter() - start) / iterations, dtype=torch.float64)
            dist.all_reduce(took, dist.ReduceOp.MAX)
            best[name] = min(best[name], took.item())
    return best


def _all_reduce(groups: dict[str, Any], size: int) -> dict[str, float]:
    import torch
    import torch.distributed as dist

    t = torch.zeros(size // 4)
    for g in groups.values():
        t.fill_(dist.get_rank() + 1)
        dist.all_reduce(t, group=g)
        n = dist.get_world_size()
        if not bool((t == n * (n + 1) // 2).all()):
            raise AssertionError(f"wrong result of {size} bytes")
    t.zero_()
    return _best(groups, lambda g: _ignore(dist.all_reduce(t, group=g)), max(2, min(300, 16 * 2**20 // size)))


def _ignore(_: object) -> None:
    """Ignores the result of a call."""


def _ddp_step(groups: dict[str, Any], width: int) -> dict[str, float]:
    """A step of a model of ten million parameters."""
    import torch
    from torch import nn

    models = {}
    for name, g in groups.items():
        torch.manual_seed(0)
        layers = [m for _ in range(10) for m in (nn.Linear(width, width), nn.ReLU())]
        models[name] = nn.parallel.DistributedDataParallel(nn.Sequential(*layers), process_group=g)
    x = torch.randn(16, width)
    by_group = {id(g): models[name] for name, g in groups.items()}

    def step(g: Any) -> None:
        model = by_group[id(g)]
        model.zero_grad()
        model(x).sum().backward()

    return _best(groups, step, 2)


def _as_rank(sizes: list[int]) -> None:
    import torch
    import torch.distributed as dist

    import thundercollective.torch  # noqa: F401

    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    groups = {name: dist.new_group(backend=name) for name in _BACKENDS}
    report = dist.get_rank() == 0
    for size in sizes:
        row = _all_reduce(groups, size)
        if report:
            print(json.dumps({"mode": "allreduce", "size_bytes": size, **{k: v * 1e6 for k, v in row.items()}}), flush=True)
    row = _ddp_step(groups, 1000)
    if report:
        print(json.dumps({"mode": "ddp_step", "size_bytes": 10 * 1001 * 1000 * 4, **{k: v * 1e6 for k, v in row.items()}}), flush=True)
    dist.destroy_process_group()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m thundercollective.torch.bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("-n", type=int, default=2, help="number of ranks (default 2)")
    parser.add_argument("--max", type=int, default=64 * 2**20, help="largest size in bytes (default 64 MiB)")
    parser.add_argument("--json", action="store_true", help="one JSON object per row")
    parser.add_argument("--as-rank", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    sizes = [s for s in (4 * 4**k for k in range(13)) if s <= args.max]
    if args.as_rank:
        _as_rank(sizes)
        return 0
    results = run_ranks(["-m", "thundercollective.torch.bench", "--as-rank", "--max", str(args.max)], args.n, torch=True, timeout=600)
    for r, p in enumerate(results):
        if p.returncode:
            print(f"rank {r} failed:\n{p.stdout}", file=sys.stderr)
            return 1
    rows = [json.loads(line) for line in results[0].stdout.splitlines() if line.startswith("{")]
    if not args.json:
        print(f"{'':10} {'bytes':>10} {'thunder µs':>12} {'gloo µs':>12} {'ratio':>7}")
    for row in rows:
        if args.json:
            print(json.dumps(row))
        else:
            print(f"{row['mode']:10} {row['size_bytes']:>10} {row['thunder']:>12.1f} {row['gloo']:>12.1f} {row['gloo'] / row['thunder']:>6.1f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
