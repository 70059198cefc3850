"""The shared library and its functions, as thunder.h declares them."""

import ctypes
import os
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path

from ._errors import BY_CODE

DTYPES = {name: i + 1 for i, name in enumerate("f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool".split())}
OPS = {name: i + 1 for i, name in enumerate("sum prod min max avg and or xor".split())}
KINDS = {
    name: i + 1
    for i, name in enumerate(
        "all_reduce reduce_scatter all_gather broadcast reduce gather scatter all_to_all barrier send recv send_recv".split()
    )
}


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("rank", c_int32), ("size", c_int32), ("addrs", c_char_p),
        ("coordinator", c_char_p), ("hostfile", c_char_p), ("token", c_char_p), ("token_len", c_size_t),
        ("insecure", c_int32), ("streams", c_int32), ("fabric", c_char_p), ("algo", c_char_p),
        ("timeout_ms", c_int64), ("start_timeout_ms", c_int64),
    ]


class Request(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t), ("kind", c_int32), ("dtype", c_int32), ("op", c_int32), ("root", c_int32),
        ("from_", c_int32), ("varying", c_int32), ("send", c_void_p), ("send_bytes", c_size_t),
        ("recv", c_void_p), ("recv_bytes", c_size_t), ("send_counts", POINTER(c_int64)),
        ("recv_counts", POINTER(c_int64)), ("timeout_ms", c_int64),
    ]


def path() -> Path:
    """Returns the path of the library: THUNDER_LIBRARY, or in the directory of this file."""
    if named := os.environ.get("THUNDER_LIBRARY"):
        return Path(named)
    return Path(__file__).with_name("libthunder.dylib" if sys.platform == "darwin" else "libthunder.so")


def _load() -> ctypes.CDLL:
    try:
        lib = ctypes.CDLL(str(path()))
    except OSError as e:
        raise ImportError(f"thundercollective: cannot load the shared library ({e}); install the package with: pip install ./python") from e
    lib.thunder_last_error.restype = c_char_p
    lib.thunder_init.argtypes = [POINTER(Options), POINTER(c_uint64)]
    lib.thunder_split.argtypes = [c_uint64, c_int64, c_int64, POINTER(c_uint64)]
    lib.thunder_run.argtypes = [c_uint64, POINTER(Request)]
    lib.thunder_fabric.argtypes = [c_uint64, c_char_p, c_size_t]
    lib.thunder_abort.argtypes = [c_uint64, c_char_p]
    lib.thunder_interrupt.argtypes = [c_char_p]
    for name in ("close", "rank", "size", "comm_error"):
        getattr(lib, "thunder_" + name).argtypes = [c_uint64]
    for name in ("init", "split", "run", "fabric", "abort", "interrupt", "close", "rank", "size", "comm_error"):
        getattr(lib, "thunder_" + name).restype = c_int
    return lib


lib = _load()


def check(code: int) -> None:
    """Raises the error of a code other than THUNDER_OK."""
    if code:
        raise BY_CODE[code](lib.thunder_last_error().decode(errors="replace"))


__all__ = ["DTYPES", "KINDS", "OPS", "Options", "Request", "byref", "c_uint64", "check", "lib", "path"]
