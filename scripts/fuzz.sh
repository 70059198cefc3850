#!/usr/bin/env bash
# Fuzzes every fuzz target for FUZZTIME each (10s unless set). The seed corpora
# run in every ordinary test.
set -euo pipefail
cd "$(dirname "$0")/.."
for pkg in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		echo "== $pkg $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-10s}" "$pkg"
	done
done
