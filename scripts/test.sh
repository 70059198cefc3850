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

step "tests"
go test -timeout 20m ./...

step "tests with the race detector"
go test -race -short -timeout 20m ./...

step "arm64: kernels and shared memory, under qemu-user"
scripts/test-arm64.sh

step "the Python package and the PyTorch backend"
scripts/test-python.sh

step "RDMA on soft-RoCE in a virtual machine"
scripts/rdma-vm.sh
