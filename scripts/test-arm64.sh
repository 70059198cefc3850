#!/bin/sh
# Runs the tests of packages that depend on the processor (or those given as arguments) on
# arm64: natively there, elsewhere under qemu-user, which is installed if it is
# missing and we may. Where it cannot be had the tests are skipped, which one line
# on stderr says.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- ./internal/reduce ./internal/provider/shm

if [ "$(go env GOHOSTARCH)" = arm64 ]; then
	exec go test "$@"
fi

emulator() {
	command -v qemu-aarch64-static || command -v qemu-aarch64
}
if ! emulator >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	for attempt in install update; do
		[ $attempt = install ] || apt-get update -qq >/dev/null 2>&1 || break
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends qemu-user-static >/dev/null 2>&1 && break
	done
fi
if ! qemu=$(emulator); then
	echo "SKIPPED: arm64 tests of $*: no qemu-aarch64 here, and it could not be installed (Debian package qemu-user-static)" >&2
	exit 0
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for package in $(go list "$@"); do
	GOARCH=arm64 CGO_ENABLED=0 go test -c -o "$dir/test" "$package"
	[ -e "$dir/test" ] || continue # no tests
	# Tests run in the directory of their package, as go test would have it.
	(cd "$(go list -f '{{.Dir}}' "$package")" && "$qemu" "$dir/test" -test.short)
	echo "ok	$package	arm64, $(basename "$qemu")"
	rm "$dir/test"
done
