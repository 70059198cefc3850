#!/usr/bin/env bash
# Makes the virtual environment of the Python tests and prints its directory. The
# environment is in the user's cache and is kept between runs; it is updated only if a
# requirements file or the interpreter changes. NumPy and pytest are required. PyTorch and
# MLX are installed if the package index has them; otherwise one line says so. pip's own
# settings apply (PIP_INDEX_URL, PIP_EXTRA_INDEX_URL for a CPU-only torch, ...).
#
#   THUNDER_PYTHON        the interpreter (python3)
#   THUNDER_PYTHON_ENV    directory of the environment
#   THUNDER_REQUIRE_TORCH 1: fail if PyTorch or MLX cannot be installed
set -euo pipefail
cd "$(dirname "$0")/.."

python=${THUNDER_PYTHON:-python3}
if ! version=$("$python" -c 'import sys; assert sys.version_info >= (3, 10); print("%d.%d" % sys.version_info[:2])' 2>/dev/null); then
	echo "python-env: no Python 3.10 or newer (THUNDER_PYTHON=$python)" >&2
	exit 1
fi
env=${THUNDER_PYTHON_ENV:-${XDG_CACHE_HOME:-$HOME/.cache}/thundercollective/python-$version}
pip() { "$env/bin/python" -m pip --disable-pip-version-check --quiet "$@" >&2; }

stamped() { # stamped NAME: whether the present requirements-NAME.txt is installed
	cmp -s "python/requirements-$1.txt" "$env/requirements-$1.txt"
}
install() { # install NAME
	pip install -r "python/requirements-$1.txt" && cp "python/requirements-$1.txt" "$env/"
}

if [ ! -x "$env/bin/python" ] || ! "$env/bin/python" -c '' 2>/dev/null; then
	rm -rf "$env"
	"$python" -m venv "$env"
fi
if ! stamped test && ! install test; then
	echo "python-env: SKIP: cannot install NumPy and pytest: the package index does not answer" >&2
	exit 3
fi
for part in torch mlx; do
	if ! stamped "$part" && ! install "$part"; then
		echo "python-env: SKIP: cannot install $part; its tests do not run" >&2
		[ "${THUNDER_REQUIRE_TORCH:-}" != 1 ] || exit 1
	fi
done
echo "$env"
