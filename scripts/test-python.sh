#!/usr/bin/env bash
# Builds and installs the Python package as a user would, into the environment of
# python-env.sh, checks its types and runs its tests. Where the package index cannot be
# reached and nothing is cached, it says so and ends well, unless
# THUNDER_REQUIRE_TORCH=1 (as in CI).
#
#   scripts/test-python.sh [ARGUMENTS OF PYTEST]
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
env=$(scripts/python-env.sh) || status=$?
if [ "$status" -eq 3 ] && [ "${THUNDER_REQUIRE_TORCH:-}" != 1 ]; then
	exit 0 # python-env.sh has said why
elif [ "$status" -ne 0 ]; then
	exit "$status"
fi
"$env/bin/python" -m pip --disable-pip-version-check --quiet install --no-build-isolation --no-deps --force-reinstall ./python
cd python
"$env/bin/python" -m mypy
# Compiled here, once, and not within the time that a test has.
if "$env/bin/python" -c 'import torch' 2>/dev/null; then
	"$env/bin/python" -c 'from thundercollective.torch._build import load; load()'
fi
# Not from the source directory, so that it is the installed package that is tested.
exec "$env/bin/python" -m pytest -q -rs -p no:cacheprovider "$@"
