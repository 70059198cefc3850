"""Access to the memory of arrays of several libraries.

For each library there is a class that returns the memory of an array to read, makes a
new array, returns the memory of an array to write, and returns the finished result. The
class for NumPy is also used for everything that NumPy can view without a copy: the
buffer protocol and DLPack.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ._errors import InvalidCallError
from ._library import DTYPES


class Memory(NamedTuple):
    """The contiguous elements of an array."""

    address: int
    bytes: int
    dtype: int  # code in thunder.h
    width: int  # values of that type per element: 2 for complex numbers
    shape: tuple[int, ...]
    owner: Any  # keeps the memory alive

    @property
    def span(self) -> tuple[int, int]:
        return self.address, self.bytes


class Library(Protocol):
    def read(self, x: Any) -> Memory: ...
    def write(self, x: Any) -> Memory: ...
    def empty(self, shape: Sequence[int], like: Any) -> Any: ...
    def empty_of(self, shape: Sequence[int], dtype: Any) -> Any: ...
    def result(self, x: Any) -> Any: ...
    def is_array(self, x: Any) -> bool: ...


# Element types by their names in NumPy, PyTorch and MLX.
_CODES: dict[str, tuple[int, int]] = {
    "float32": (DTYPES["f32"], 1), "float64": (DTYPES["f64"], 1), "float16": (DTYPES["f16"], 1),
    "bfloat16": (DTYPES["bf16"], 1), "bool": (DTYPES["bool"], 1), "bool_": (DTYPES["bool"], 1),
    "complex64": (DTYPES["f32"], 2), "complex128": (DTYPES["f64"], 2),
    **{f"int{n}": (DTYPES[f"i{n}"], 1) for n in (8, 16, 32, 64)},
    **{f"uint{n}": (DTYPES[f"u{n}"], 1) for n in (8, 16, 32, 64)},
}


def _code(name: str) -> tuple[int, int]:
    try:
        return _CODES[name]
    except KeyError:
        raise InvalidCallError(f"thundercollective: arrays of {name} cannot be sent; use one of {', '.join(sorted(_CODES))}") from None


class _NumPy:
    def read(self, x: Any) -> Memory:
        a = self._view(x)
        code, width = _code(a.dtype.name)
        if not a.dtype.isnative:
            raise InvalidCallError("thundercollective: the byte order of the array differs from that of this machine")
        a = a if a.flags.c_contiguous else np.ascontiguousarray(a)
        return Memory(a.ctypes.data, a.nbytes, code, width, a.shape, a)

    def write(self, x: Any) -> Memory:
        a = self._view(x)
        if not a.flags.c_contiguous or not a.flags.writeable:
            raise InvalidCallError("thundercollective: out must be contiguous and writable")
        return self.read(a)

    def empty(self, shape: Sequence[int], like: Any) -> Any:
        return np.empty(shape, self._view(like).dtype)

    def empty_of(self, shape: Sequence[int], dtype: Any) -> Any:
        return np.empty(shape, dtype)

    def result(self, x: Any) -> Any:
        return x

    def is_array(self, x: Any) -> bool:
        return hasattr(x, "__array_interface__") or hasattr(x, "__dlpack__") or isinstance(x, (memoryview, bytearray, float, int))

    @staticmethod
    def _view(x: Any) -> np.ndarray[Any, Any]:
        if isinstance(x, np.ndarray):
            return x
        if hasattr(x, "__dlpack__") and not hasattr(x, "__array_interface__"):
            try:
                return np.from_dlpack(x)
            except (BufferError, RuntimeError, TypeError) as e:
                raise InvalidCallError(f"thundercollective: {type(x).__name__} cannot be read in place: {e}") from e
        return np.asarray(x)


class _Torch:
    def read(self, x: Any) -> Memory:
        import torch

        self._on_cpu(x)
        code, width = _code(str(x.dtype).removeprefix("torch."))
        t = x.detach().resolve_conj().resolve_neg().contiguous()
        if isinstance(t, torch.Tensor) and t.layout != torch.strided:
            raise InvalidCallError("thundercollective: sparse tensors cannot be sent")
        return Memory(t.data_ptr(), t.numel() * t.element_size(), code, width, tuple(t.shape), t)

    def write(self, x: Any) -> Memory:
        if not x.is_contiguous() or x.is_conj() or x.is_neg():
            raise InvalidCallError("thundercollective: out must be contiguous")
        return self.read(x)

    def empty(self, shape: Sequence[int], like: Any) -> Any:
        return self.empty_of(shape, like.dtype)

    def empty_of(self, shape: Sequence[int], dtype: Any) -> Any:
        import torch

        return torch.empty(tuple(shape), dtype=dtype)

    def result(self, x: Any) -> Any:
        return x

    def is_array(self, x: Any) -> bool:
        return True

    @staticmethod
    def _on_cpu(x: Any) -> None:
        if x.device.type != "cpu":
            raise InvalidCallError(f"thundercollective: the tensor is on {x.device}; move it to the CPU first")


class _MLX:
    """MLX arrays cannot be written. They are read in place; results are made from NumPy arrays."""

    def read(self, x: Any) -> Memory:
        import mlx.core as mx

        code, width = _code(self._name(x.dtype))
        mx.eval(x)
        if x.dtype == mx.bfloat16:  # the buffer protocol has no name for it
            x = x.view(mx.uint16)
        m = numpy.read(np.asarray(memoryview(x)))
        return m._replace(dtype=code, width=width, owner=(x, m.owner))

    def write(self, x: Any) -> Memory:
        if isinstance(x, _Pending):
            m = numpy.write(x.array)
            code, width = _code(self._name(x.dtype))
            return m._replace(dtype=code, width=width)
        raise InvalidCallError("thundercollective: MLX arrays cannot be written in place; omit out=")

    def empty(self, shape: Sequence[int], like: Any) -> Any:
        return self.empty_of(shape, like.dtype)

    def empty_of(self, shape: Sequence[int], dtype: Any) -> Any:
        name = self._name(dtype)
        return _Pending(np.empty(shape, "uint16" if name == "bfloat16" else name), dtype)

    def result(self, x: Any) -> Any:
        import mlx.core as mx

        a = mx.array(x.array)
        return a.view(x.dtype) if x.dtype == mx.bfloat16 else a

    def is_array(self, x: Any) -> bool:
        import mlx.core as mx

        return isinstance(x, mx.array)

    @staticmethod
    def _name(dtype: Any) -> str:
        name = str(dtype).removeprefix("mlx.core.")
        return "bool" if name == "bool_" else name


class _Pending(NamedTuple):
    array: np.ndarray[Any, Any]
    dtype: Any


numpy = _NumPy()
_torch = _Torch()
_mlx = _MLX()


def library_of(x: Any) -> Library:
    """Returns the library of an array, without importing any."""
    return _by_module(type(x), x)


def library_of_dtype(dtype: Any) -> Library:
    """Returns the library of an element type."""
    return _by_module(type(dtype), None)


def _by_module(kind: type, x: Any) -> Library:
    name = kind.__module__.partition(".")[0]
    if name == "mlx":
        return _mlx
    if name == "torch":
        return _torch
    torch = sys.modules.get("torch")  # subclasses of its tensors, such as parameters
    if x is not None and torch is not None and isinstance(x, torch.Tensor):
        return _torch
    return numpy
