"""Builds the shared library with Go and adds it to the package."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent.parent  # of the Go module
LIBRARY = "libthunder.dylib" if sys.platform == "darwin" else "libthunder.so"


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        if not (ROOT / "go.mod").is_file():
            raise SystemExit("thundercollective: the Go module is missing; build from a checkout of the whole project")
        if shutil.which("go") is None:
            raise SystemExit("thundercollective: building the library needs Go, which is not in PATH")
        package = Path(self.get_package_dir("thundercollective") if self.editable_mode else Path(self.build_lib) / "thundercollective")
        package.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["go", "build", "-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", str(package.resolve() / LIBRARY), "./bindings/c"],
            cwd=ROOT, env={**os.environ, "CGO_ENABLED": "1"}, check=True,
        )
        (package / "libthunder.h").unlink(missing_ok=True)  # thunder.h is the header
        (package / "include").mkdir(exist_ok=True)
        shutil.copy(ROOT / "bindings" / "c" / "thunder.h", package / "include")


class PlatformWheel(bdist_wheel):
    """The library depends on the platform, but not on the version of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class BinaryDistribution(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(distclass=BinaryDistribution, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
