#!/usr/bin/env bash
# Builds and installs the Python package as a user would, into the environment of
# python-env.sh, checks its types and runs its tests. If the package index does not answer
# and nothing is cached, it prints that and exits with status 0, unless
# THUNDER_REQUIRE_TORCH=1 (as in CI).
#
#   scripts/test-python.sh [ARGUMENTS OF PYTEST]
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
env=$(scripts/python-env.sh) || status=$?
if [ "$status" -eq 3 ] && [ "${THUNDER_REQUIRE_TORCH:-}" != 1 ]; then
	exit 0 # python-env.sh has printed why
elif [ "$status" -ne 0 ]; then
	exit "$status"
fi
"$env/bin/python" -m pip --disable-pip-version-check --quiet install --no-build-isolation --no-deps --force-reinstall ./python
cd python
"$env/bin/python" -m mypy
# Compile it here, so that it does not count against the timeout of a test.
if "$env/bin/python" -c 'import torch' 2>/dev/null; then
	"$env/bin/python" -c 'from thundercollective.torch._build import load; load()'
fi
# From here, Python imports the installed package, not the sources.
exec "$env/bin/python" -m pytest -q -rs -p no:cacheprovider "$@"
