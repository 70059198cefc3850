"""Compiles the backend for the installed PyTorch, once.

PyTorch's C++ interface changes between versions, so the package cannot contain the
compiled backend. The result is kept in the user's cache, under a name that depends on
everything that went into it.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType

import torch
from torch.utils import cpp_extension

_HERE = Path(__file__).parent
_SOURCES = ("operation.cpp", "memory.cpp", "backend.cpp", "module.cpp")


def load() -> ModuleType:
    """Returns the compiled backend as a module."""
    name = "thunder_backend"
    path = _cache() / _key() / (name + str(sysconfig.get_config_var("EXT_SUFFIX")))
    if not path.exists():
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        with open(path.parent.parent / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # one rank compiles, the others on this machine wait
            if not path.exists():
                _compile(name, path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "thundercollective" / "torch"


def _headers() -> Path:
    """Returns the directory of thunder.h: in the installed package, or in the checkout."""
    installed = _HERE.parent / "include"
    return installed if installed.is_dir() else _HERE.parents[3] / "bindings" / "c"


def _key() -> str:
    digest = hashlib.sha256()
    for part in (torch.__version__, torch.__file__, sys.version, _compiler()):
        digest.update(part.encode() + b"\0")
    for file in sorted([*_HERE.glob("*.[ch]pp"), _headers() / "thunder.h"]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:20]


def _compiler() -> str:
    return os.environ.get("CXX") or "c++"


def _compile(name: str, path: Path) -> None:
    """Compiles into a temporary directory and renames it, so that the result is complete or absent."""
    if shutil.which(_compiler()) is None:
        raise ImportError(f"thundercollective: the PyTorch backend must be compiled once, and there is no C++ compiler ({_compiler()})")
    print(f"thundercollective: compiling the backend for PyTorch {torch.__version__}, once; this takes about a minute", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=path.parent.parent) as scratch:
        built = Path(scratch) / "built"
        built.mkdir()
        # All sources in one: parsing PyTorch's headers takes most of the time.
        whole = Path(scratch) / "whole.cpp"
        whole.write_text("".join(f'#include "{_HERE / source}"\n' for source in _SOURCES))
        _run(whole, name, built / path.name)
        built.rename(path.parent)


def _run(source: Path, name: str, out: Path) -> None:
    includes = [*cpp_extension.include_paths(), sysconfig.get_paths()["include"], str(_headers())]
    undefined = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    compiled = subprocess.run(
        [
            *_compiler().split(), "-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-w", f"-DTHUNDER_MODULE={name}",
            f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}", *(f"-isystem{i}" for i in includes),
            "-shared", *undefined, str(source), *(f"-L{p}" for p in cpp_extension.library_paths()),
            "-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python", "-o", str(out),
        ],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    if compiled.returncode:
        raise ImportError(f"thundercollective: the PyTorch backend does not compile for PyTorch {torch.__version__}:\n{compiled.stdout[-4000:]}")
