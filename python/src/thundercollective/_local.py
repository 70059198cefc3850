"""Starts the ranks of a job on this machine, for the self-test, tests and benchmarks."""

from __future__ import annotations

import errno
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence


def run_ranks(
    args: Sequence[str], n: int, *, env: Mapping[str, str] | None = None, timeout: float = 120, torch: bool = False
) -> list[subprocess.CompletedProcess[str]]:
    """Runs ``python *args`` as n ranks and returns their exit codes and outputs.

    Ranks that still run after the timeout are killed; they print their stacks. With
    torch, the ranks get the variables of torchrun instead of this package's own.
    """
    address = f"127.0.0.1:{_free_port()}"
    processes = [
        subprocess.Popen(
            [sys.executable, *args],
            env={**_clean(os.environ), "PYTHONFAULTHANDLER": "1", **_who(rank, n, address, torch), **(env or {})},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for rank in range(n)
    ]
    deadline = time.monotonic() + timeout
    results = []
    for p in processes:
        try:
            output, _ = p.communicate(timeout=max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            output = _end(p) + f"\nended: still running after {timeout:.0f} s\n"
        results.append(subprocess.CompletedProcess(p.args, p.returncode, output))
    return results


def _end(p: subprocess.Popen[str]) -> str:
    p.send_signal(signal.SIGABRT)  # faulthandler prints the stack of each thread
    try:
        output, _ = p.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        p.kill()
        output, _ = p.communicate()
    return output


_TOKEN = secrets.token_hex(16)


def _who(rank: int, n: int, address: str, torch: bool) -> dict[str, str]:
    host, port = address.rsplit(":", 1)
    if torch:
        return {
            "RANK": str(rank), "WORLD_SIZE": str(n), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(n),
            "MASTER_ADDR": host, "MASTER_PORT": port,
        }
    return {
        "THUNDER_RANK": str(rank), "THUNDER_WORLD_SIZE": str(n), "THUNDER_COORDINATOR": address, "THUNDER_TOKEN": _TOKEN,
    }


def _clean(env: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment without the variables of a surrounding job."""
    return {k: v for k, v in env.items() if not k.startswith(("THUNDER_", "MLX_", "OMPI_", "PMI")) or k == "THUNDER_LIBRARY"}


def _free_port() -> int:
    """Returns a free port outside of the range that systems use for outgoing connections,
    so that no connection takes it before it is used.
    """
    for _ in range(100):
        port = 10_000 + secrets.randbelow(20_000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError as err:
                if err.errno != errno.EADDRINUSE:
                    raise
            else:
                return port
    raise OSError(errno.EADDRINUSE, "no free port in 100 tries")
