#!/usr/bin/env bash
# Checks formatting and runs vet and staticcheck; vet also for platforms that cannot run
# on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(git ls-files -co --exclude-standard '*.go' | while read -r f; do [ ! -f "$f" ] || gofmt -l "$f"; done)
if [ -n "$unformatted" ]; then
	printf 'not formatted (run gofmt -w):\n%s\n' "$unformatted" >&2
	exit 1
fi
go vet ./...
go tool staticcheck ./...
for platform in linux/arm64 darwin/arm64; do
	echo "vet $platform"
	GOOS=${platform%/*} GOARCH=${platform#*/} CGO_ENABLED=0 go vet ./...
	GOOS=${platform%/*} GOARCH=${platform#*/} CGO_ENABLED=0 go build -o /dev/null ./cmd/thunder
done
