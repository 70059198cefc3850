#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (10s by default). Ordinary tests run the seed
# corpora.
set -euo pipefail
cd "$(dirname "$0")/.."
for pkg in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		echo "== $pkg $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-10s}" "$pkg"
	done
done
