#!/bin/sh
# Runs the tests of packages that depend on the processor (or those given as arguments) on
# arm64: natively on such a machine, elsewhere with qemu-user, which is installed if
# possible. Without it, the tests are skipped, with one line on stderr.
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
	echo "SKIPPED: arm64 tests of $*: there is no qemu-aarch64, and it could not be installed (Debian package qemu-user-static)" >&2
	exit 0
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for package in $(go list "$@"); do
	GOARCH=arm64 CGO_ENABLED=0 go test -c -o "$dir/test" "$package"
	[ -e "$dir/test" ] || continue # no tests
	# Run tests in the directory of their package, as go test does.
	(cd "$(go list -f '{{.Dir}}' "$package")" && "$qemu" "$dir/test" -test.short)
	echo "ok	$package	arm64, $(basename "$qemu")"
	rm "$dir/test"
done
