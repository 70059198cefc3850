"""Groups of ranks."""

from __future__ import annotations

import atexit
import ctypes
import sys
import threading
import traceback
from collections.abc import Sequence

from . import _interrupt
from ._errors import InvalidCallError, ThunderError
from ._library import KINDS, Options, Request, byref, c_uint64, check, lib


class Group:
    """A group of ranks: all ranks of the job (:func:`init`), or some (:meth:`split`)."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._rank: int = lib.thunder_rank(handle)
        self._size: int = lib.thunder_size(handle)

    def rank(self) -> int:
        """Returns the rank of this process in the group, from 0."""
        return self._rank

    def size(self) -> int:
        """Returns the number of ranks."""
        return self._size

    def fabric(self) -> str:
        """Returns the name of the fabric that moves messages, such as ``"tcp"``."""
        name = ctypes.create_string_buffer(64)
        check(lib.thunder_fabric(self._handle, name, len(name)))
        return name.value.decode()

    def split(self, color: int, key: int = -1) -> Group | None:
        """Divides the group: ranks with the same color form a new one, ordered by key, then by rank.

        All ranks of this group must call it. It returns None to ranks with a negative color.
        """
        out = c_uint64()
        check(lib.thunder_split(self._handle, color, self._rank if key < 0 else key, byref(out)))
        return Group(out.value) if out.value else None

    def error(self) -> ThunderError | None:
        """Returns the error that made the group unusable; None if it works."""
        try:
            check(lib.thunder_comm_error(self._handle))
        except ThunderError as e:
            return e
        return None

    def abort(self, reason: str) -> None:
        """Ends the group on all ranks; operations that are still running raise AbortedError."""
        check(lib.thunder_abort(self._handle, reason.encode()))

    def close(self) -> None:
        """Leaves the group. Closing the group of :func:`init` closes all groups."""
        check(lib.thunder_close(self._handle))

    def __repr__(self) -> str:
        return f"<thundercollective.Group rank {self._rank} of {self._size}>"

    def run(
        self,
        kind: str,
        *,
        dtype: int = 0,
        op: int = 0,
        root: int = 0,
        send: tuple[int, int] | None = None,
        recv: tuple[int, int] | None = None,
    ) -> None:
        """Runs any operation on memory given as (address, bytes). See thunder.h."""
        r = Request(struct_size=ctypes.sizeof(Request), kind=KINDS[kind], dtype=dtype, op=op, root=root)
        if send is not None:
            r.send, r.send_bytes = send
        if recv is not None:
            r.recv, r.recv_bytes = recv
        check(lib.thunder_run(self._handle, r))


_lock = threading.Lock()
_world: Group | None = None


def is_available() -> bool:
    """Returns whether the package can be used: always True."""
    return True


def init(
    strict: bool = False,
    backend: str = "any",
    *,
    rank: int | None = None,
    size: int | None = None,
    addrs: Sequence[str] = (),
    coordinator: str = "",
    hostfile: str = "",
    token: bytes | str = b"",
    insecure: bool = False,
    fabric: str = "",
    algo: str = "",
    timeout: float = 0,
    start_timeout: float = 0,
) -> Group:
    """Joins the job and returns the group of all ranks; later calls return the same group.

    The rank and the way to the other ranks come from the arguments or from the
    environment that a launcher has set. A process that was not started as part of a job
    is a group of one rank; with strict, that is an error. Timeouts are in seconds.
    backend is accepted for scripts written for MLX and ignored.
    """
    global _world
    with _lock:
        if _world is None:
            world = join(
                rank=rank, size=size, addrs=addrs, coordinator=coordinator, hostfile=hostfile, token=token,
                insecure=insecure, fabric=fabric, algo=algo, timeout=timeout, start_timeout=start_timeout,
            )
            atexit.register(_leave, world._handle)
            _world = world
        if strict and _world.size() == 1:
            raise InvalidCallError("thundercollective: this process is not part of a job; start it with thunder launch, or pass rank, size and coordinator")
        return _world


def _leave(handle: int) -> None:
    tell(handle)
    lib.thunder_close(handle)


def tell(handle: int) -> None:
    """Sends the text of the exception that ends this process, if there is one, to the
    other ranks: their errors contain it."""
    error = getattr(sys, "last_value", None)
    if error is None or hasattr(sys, "ps1"):  # at a prompt, exceptions do not end the process
        return
    lines = "".join(traceback.format_exception_only(type(error), error)).splitlines()
    reason = next((line for line in lines if not line.startswith(" ")), type(error).__name__)
    lib.thunder_abort(handle, reason.encode(errors="replace"))


def join(
    *,
    rank: int | None = None,
    size: int | None = None,
    addrs: Sequence[str] = (),
    coordinator: str = "",
    hostfile: str = "",
    token: bytes | str = b"",
    insecure: bool = False,
    fabric: str = "",
    algo: str = "",
    timeout: float = 0,
    start_timeout: float = 0,
) -> Group:
    """Is like :func:`init`, but joins another job each time."""
    if (rank is None) != (size is None):
        raise InvalidCallError("thundercollective: give both rank and size, or neither")
    secret = token.encode() if isinstance(token, str) else token
    options = Options(
        struct_size=ctypes.sizeof(Options), rank=rank or 0, size=size or 0, addrs=" ".join(addrs).encode(),
        coordinator=coordinator.encode(), hostfile=hostfile.encode(), token=secret or None, token_len=len(secret),
        insecure=insecure, fabric=fabric.encode(), algo=algo.encode(), timeout_ms=int(timeout * 1000),
        start_timeout_ms=int(start_timeout * 1000),
    )
    out = c_uint64()
    check(lib.thunder_init(options, byref(out)))
    _interrupt.watch()
    return Group(out.value)


def world() -> Group:
    """Returns the group of :func:`init`, which it calls if necessary."""
    return _world or init()
