#!/usr/bin/env bash
# Compares thundercollective with Open MPI, Gloo (PyTorch) and MLX on this machine, and
# writes the tables and plots of docs/benchmarks. It installs what is missing if it can;
# the result names what it could not install.
#
#   QUICK=1       fewer sizes, one round, all-reduce only, output in bin/bench-peers
#   OUT=DIR       output directory (docs/benchmarks; bin/bench-peers with QUICK)
#   ROUNDS=N      number of rounds (3)
set -euo pipefail
cd "$(dirname "$0")/.."

work=bin/bench-peers
mkdir -p "$work"
note() { echo "bench-peers: $*" >&2; }

for need in mpicc:libopenmpi-dev mpirun:openmpi-bin iperf3:iperf3; do
	tool=${need%%:*} package=${need##*:}
	command -v "$tool" >/dev/null && { [ "$tool" != mpicc ] || mpicc -E -x c - -o /dev/null <<<'#include <mpi.h>' 2>/dev/null; } && continue
	if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
		note "installing $package"
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q "$package" >/dev/null || note "$package could not be installed"
	else
		note "$tool is missing: install $package"
	fi
done

args=(-thunder bin/thunder)
if mpicc -O2 -o "$work/mpi" internal/bench/peers/programs/mpi.c 2>"$work/mpicc.log"; then
	args+=(-mpi "$work/mpi")
else
	note "no Open MPI: $(tail -n 1 "$work/mpicc.log")"
fi
if env=$(scripts/python-env.sh) && "$env/bin/python" -c 'import torch, mlx.core' 2>/dev/null; then
	args+=(-python "$env/bin/python")
else
	note "no Python with torch and mlx"
fi
if [ -n "${QUICK:-}" ]; then
	args+=(-quick -out "${OUT:-$work}")
else
	args+=(-rounds "${ROUNDS:-3}" -out "${OUT:-docs/benchmarks}")
fi
go build -o "$work/peers" ./internal/bench/peers
"$work/peers" "${args[@]}"
