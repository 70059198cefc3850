"""Averaging the gradients of a model."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import library_of
from ._errors import InvalidCallError
from ._group import Group, world
from ._library import OPS
from ._ops import all_reduce


def average_gradients(gradients: Any, group: Group | None = None, all_reduce_size: int = 32 * 1024**2, communication_type: Any = None) -> Any:
    """Returns a nested list, tuple or dict of arrays, averaged over all ranks.

    Small arrays of the same type are packed together, up to all_reduce_size bytes; with
    0, each is sent separately. communication_type is not supported and must be None.
    """
    g = group or world()
    if communication_type is not None:
        raise InvalidCallError("thundercollective: gradients are averaged in their own type; omit communication_type")
    if g.size() == 1:
        return gradients
    leaves: list[Any] = []
    _map(gradients, leaves.append)
    results: list[Any] = [None] * len(leaves)
    for batch in _batches(leaves, all_reduce_size):
        if len(batch) == 1:
            results[batch[0]] = all_reduce(leaves[batch[0]], "avg", group=g)
        else:
            _average_packed(leaves, batch, results, g)
    finished = iter(results)
    return _map(gradients, lambda _: next(finished))


def _batches(leaves: list[Any], limit: int) -> list[list[int]]:
    """Returns indices of arrays that are sent together: of the same type, up to the limit."""
    batches: list[list[int]] = []
    open_: dict[int, tuple[list[int], int]] = {}
    for i, x in enumerate(leaves):
        m = library_of(x).read(x)
        batch, size = open_.get(m.dtype, ([], 0))
        if not batch or size + m.bytes > limit:
            batch, size = [], 0
            batches.append(batch)
        batch.append(i)
        open_[m.dtype] = batch, size + m.bytes
    return batches


def _average_packed(leaves: list[Any], batch: list[int], results: list[Any], g: Group) -> None:
    sources = [library_of(leaves[i]).read(leaves[i]) for i in batch]
    flat = np.empty(sum(s.bytes for s in sources), np.uint8)
    offset = 0
    for s in sources:
        flat[offset : offset + s.bytes] = _bytes(s.address, s.bytes)
        offset += s.bytes
    g.run("all_reduce", dtype=sources[0].dtype, op=OPS["avg"], recv=(flat.ctypes.data, flat.nbytes))
    offset = 0
    for i, s in zip(batch, sources):
        lib = library_of(leaves[i])
        target = lib.empty(s.shape, leaves[i])
        dst = lib.write(target)
        _bytes(dst.address, dst.bytes)[:] = flat[offset : offset + s.bytes]
        results[i] = lib.result(target)
        offset += s.bytes


def _bytes(address: int, n: int) -> np.ndarray[Any, Any]:
    return np.frombuffer(memoryview((ctypes.c_uint8 * n).from_address(address)), np.uint8) if n else np.empty(0, np.uint8)


def _map(tree: Any, f: Callable[[Any], Any]) -> Any:
    """Returns the same nesting with f applied to every array; None stays."""
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {k: _map(v, f) for k, v in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(_map(v, f) for v in tree))
    if isinstance(tree, (list, tuple)):
        return type(tree)(_map(v, f) for v in tree)
    if not library_of(tree).is_array(tree):
        raise InvalidCallError(f"thundercollective: gradients contain a {type(tree).__name__}, which is not an array")
    return f(tree)
