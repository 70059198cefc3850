#!/usr/bin/env bash
# Runs all checks and all tests. Installs what they need if it can (Debian, root);
# tests whose requirements are missing are skipped, with a message.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=${CGO_ENABLED:-1} # the race detector needs it; the binary does not

names=() seconds=() current='' since=0
step() {
	finish
	current=$1 since=$SECONDS
	printf '\n== %s (%s)\n' "$1" "$(date +%T)"
}
finish() {
	[ -z "$current" ] || { names+=("$current") seconds+=($((SECONDS - since))); }
	current=''
}
# costs says what each step cost, also when one has failed.
costs() {
	finish
	printf '\n== what it cost\n'
	for i in ${names[@]+"${!names[@]}"}; do printf '%5d s  %s\n' "${seconds[i]}" "${names[i]}"; done
	printf '%5d s  in all\n' "$SECONDS"
}
trap costs EXIT

step "test dependencies"
scripts/install-test-deps.sh
scripts/python-env.sh >/dev/null || [ $? -eq 3 ] # 3: it has printed why there is none

step "lint"
scripts/lint.sh

step "build"
make build

# Three packages at a time also on two cores: tests wait a good part of the time.
packages=$(getconf _NPROCESSORS_ONLN)
[ "$packages" -gt 2 ] || packages=3

step "tests"
go test -p "$packages" -timeout 20m ./...

# Left out is what only starts binaries that it builds without the race detector: that
# would be the same again.
step "tests with the race detector"
go list ./... | grep -v -e '/bindings/c$' -e '/examples/elastic$' | xargs go test -p "$packages" -race -short -timeout 20m

step "arm64: kernels and shared memory, under qemu-user"
scripts/test-arm64.sh

step "the Python package and the PyTorch backend"
scripts/test-python.sh

step "RDMA on soft-RoCE in a virtual machine"
scripts/rdma-vm.sh
