"""Registers the backend and makes its process groups."""

from __future__ import annotations

import atexit
import os
import secrets
import socket
import weakref
from datetime import timedelta
from typing import Any

import torch.distributed as dist

from .._group import join, tell
from .._library import path

_KEY = "thunder"
_LONGEST_START = timedelta(minutes=5)


def register() -> None:
    """Registers the backend with torch.distributed, once."""
    if "THUNDER" not in dist.Backend._plugins:
        dist.Backend.register_backend("thunder", _create, extended_api=True, devices=["cpu"])


def _create(group: Any, options: Any) -> Any:
    """Is called by torch.distributed for a new process group."""
    timeout = getattr(options, "_timeout", None) or group.timeout
    return make(group.store, group.group_rank, group.group_size, timeout if isinstance(timeout, timedelta) else timedelta(seconds=timeout))


def make(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    """Joins the ranks that share a store and returns their backend."""
    from ._build import load

    native = load()
    if rank == 0:
        address = _own_address()
        token = secrets.token_hex(32)
        store.set(_KEY, f"{address} {token}")
    else:
        address, token = store.get(_KEY).decode().split()
    joined = join(
        rank=rank, size=size, coordinator=address, token=token, timeout=timeout.total_seconds(),
        start_timeout=min(timeout, _LONGEST_START).total_seconds(),
    )
    backend = native.create(str(path()), joined._handle, timeout)
    # A rank that ends without destroy_process_group still closes its group.
    atexit.register(_shut, weakref.ref(backend), joined._handle)
    return backend


def _shut(ref: weakref.ref[Any], handle: int) -> None:
    if (backend := ref()) is not None:
        tell(handle)
        backend.shutdown()


def _own_address() -> str:
    """Returns an address of this machine that the others can reach, the one that it would
    use to reach the master, with a free port."""
    master = os.environ.get("MASTER_ADDR") or "127.0.0.1"
    family, _, _, _, target = socket.getaddrinfo(master, int(os.environ.get("MASTER_PORT") or 1), type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(target)
        host: str = probe.getsockname()[0]
    with socket.socket(family) as free:
        free.bind((host, 0))
        port: int = free.getsockname()[1]
    return f"[{host}]:{port}" if family == socket.AF_INET6 else f"{host}:{port}"
