"""The operations on arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ._arrays import Library, Memory, library_of, library_of_dtype
from ._errors import InvalidCallError
from ._group import Group, world
from ._library import OPS


def all_reduce(x: Any, op: str = "sum", *, group: Group | None = None, out: Any = None) -> Any:
    """Combines the x of all ranks element by element; op is sum, prod, min, max, avg, and, or, xor."""
    code = _op(op)
    lib = library_of(x)
    src = lib.read(x)
    _no_order(src, op)
    target, dst = _target(lib, x, src.shape, out)
    (group or world()).run("all_reduce", dtype=src.dtype, op=code, send=src.span, recv=dst.span)
    return lib.result(target)


def all_sum(x: Any, *, group: Group | None = None, stream: Any = None, out: Any = None) -> Any:
    """Returns the sum of the x of all ranks."""
    return all_reduce(x, "sum", group=group, out=out)


def all_max(x: Any, *, group: Group | None = None, stream: Any = None, out: Any = None) -> Any:
    """Returns the maximum of the x of all ranks, element by element."""
    return all_reduce(x, "max", group=group, out=out)


def all_min(x: Any, *, group: Group | None = None, stream: Any = None, out: Any = None) -> Any:
    """Returns the minimum of the x of all ranks, element by element."""
    return all_reduce(x, "min", group=group, out=out)


def all_gather(x: Any, *, group: Group | None = None, stream: Any = None, out: Any = None) -> Any:
    """Returns the x of all ranks, concatenated along the first axis."""
    g = group or world()
    lib = library_of(x)
    src = lib.read(x)
    rows = src.shape[0] if src.shape else 1
    target, dst = _target(lib, x, (g.size() * rows, *src.shape[1:]), out)
    g.run("all_gather", dtype=src.dtype, send=src.span, recv=dst.span)
    return lib.result(target)


def reduce_scatter(x: Any, op: str = "sum", *, group: Group | None = None, out: Any = None) -> Any:
    """Combines the x of all ranks and returns to rank r the r-th part along the first axis."""
    g = group or world()
    code = _op(op)
    lib = library_of(x)
    src = lib.read(x)
    _no_order(src, op)
    target, dst = _target(lib, x, (_divide(src, g), *src.shape[1:]), out)
    g.run("reduce_scatter", dtype=src.dtype, op=code, send=src.span, recv=dst.span)
    return lib.result(target)


def sum_scatter(x: Any, *, group: Group | None = None, stream: Any = None, out: Any = None) -> Any:
    """Is :func:`reduce_scatter` with sum, under its name in MLX."""
    return reduce_scatter(x, "sum", group=group, out=out)


def broadcast(x: Any, root: int = 0, *, group: Group | None = None, out: Any = None) -> Any:
    """Returns the x of root on all ranks; the others pass an array of the same shape and type."""
    g = group or world()
    lib = library_of(x)
    src = lib.read(x)
    target, dst = _target(lib, x, src.shape, out)
    if g.rank() == root:
        # The buffer of a broadcast is read at the root and written elsewhere.
        g.run("broadcast", dtype=src.dtype, root=root, recv=src.span)
        return x if out is None else _copy(lib, src, target, dst)
    g.run("broadcast", dtype=src.dtype, root=root, recv=dst.span)
    return lib.result(target)


def all_to_all(x: Any, *, group: Group | None = None, out: Any = None) -> Any:
    """Divides x along the first axis, sends part r to rank r, and returns the received parts in order of rank."""
    g = group or world()
    lib = library_of(x)
    src = lib.read(x)
    _divide(src, g)
    target, dst = _target(lib, x, src.shape, out)
    g.run("all_to_all", dtype=src.dtype, send=src.span, recv=dst.span)
    return lib.result(target)


def send(x: Any, dst: int, *, group: Group | None = None, stream: Any = None) -> Any:
    """Sends x to rank dst, which must receive an array of the same size. Returns x."""
    src = library_of(x).read(x)
    (group or world()).run("send", dtype=src.dtype, root=dst, send=src.span)
    return x


def recv(shape: Sequence[int], dtype: Any, src: int, *, group: Group | None = None, stream: Any = None) -> Any:
    """Receives an array of the given shape and type from rank src; dtype determines the library."""
    lib = library_of_dtype(dtype)
    return _receive(lib, lib.empty_of(tuple(shape), dtype), src, group)


def recv_like(x: Any, src: int, *, group: Group | None = None, stream: Any = None) -> Any:
    """Receives an array of the shape and type of x from rank src."""
    lib = library_of(x)
    return _receive(lib, lib.empty(tuple(x.shape), x), src, group)


def barrier(*, group: Group | None = None) -> None:
    """Returns when all ranks have called it."""
    (group or world()).run("barrier")


def split(color: int, key: int = -1, *, group: Group | None = None) -> Group | None:
    """Calls :meth:`Group.split` of group, or of the group of all ranks."""
    return (group or world()).split(color, key)


def _receive(lib: Library, target: Any, src: int, group: Group | None) -> Any:
    dst = lib.write(target)
    (group or world()).run("recv", dtype=dst.dtype, root=src, recv=dst.span)
    return lib.result(target)


def _op(name: str) -> int:
    try:
        return OPS[name]
    except KeyError:
        raise InvalidCallError(f"thundercollective: unknown reduction {name!r}; use one of {', '.join(OPS)}") from None


def _no_order(x: Memory, op: str) -> None:
    """Complex numbers are combined as pairs of reals, which is only right for sums."""
    if x.width != 1 and op not in ("sum", "avg"):
        raise InvalidCallError(f"thundercollective: complex numbers cannot be combined with {op}; use sum or avg")


def _divide(x: Memory, g: Group) -> int:
    if not x.shape or x.shape[0] % g.size():
        raise InvalidCallError(f"thundercollective: the first axis of shape {x.shape} cannot be divided among {g.size()} ranks")
    return x.shape[0] // g.size()


def _target(lib: Library, x: Any, shape: tuple[int, ...], out: Any) -> tuple[Any, Memory]:
    """Returns the array for a result and its memory."""
    target = lib.empty(shape, x) if out is None else out
    dst = lib.write(target)
    if out is not None:
        src = lib.read(x)
        if dst.shape != shape or (dst.dtype, dst.width) != (src.dtype, src.width):
            raise InvalidCallError(f"thundercollective: out has shape {dst.shape}; it must have shape {shape} and the type of the input")
        if dst.address < src.address + src.bytes and src.address < dst.address + dst.bytes:
            raise InvalidCallError("thundercollective: out overlaps the input")
    return target, dst


def _copy(lib: Library, src: Memory, target: Any, dst: Memory) -> Any:
    ctypes.memmove(dst.address, src.address, src.bytes)
    return lib.result(target)
