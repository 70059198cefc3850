#!/usr/bin/env bash
# Runs every package's tests repeatedly while busy loops compete for the machine, to
# find tests that depend on how fast it is.
#
#   SHAKE=5                 how often each package's tests run
#   SHAKE_PACKAGES=./...    which packages
#   SHAKE_LOOPS=2           busy loops per core
#   SHAKE_TIMEOUT=15m       for one run of one package's tests
#   SHAKE_BUILD=            flags for building, such as -race
#   SHAKE_FLAGS=            flags for the tests, such as '-test.short -test.run Fault'
#
# Left out: TestDemoRows, whose rows need a quiet machine.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${SHAKE:-5}
skip='^TestDemoRows$'
read -ra packages <<<"${SHAKE_PACKAGES:-./...}"
read -ra build <<<"${SHAKE_BUILD:-}"
read -ra flags <<<"${SHAKE_FLAGS:-}"

work=$(mktemp -d "${TMPDIR:-/tmp}/thunder-shake.XXXXXX")
loops=()
cleanup() {
	[ ${#loops[@]} -eq 0 ] || kill "${loops[@]}" 2>/dev/null || true
	rm -rf "$work/bin"
	rmdir "$work/logs" "$work" 2>/dev/null || true # logs of failures stay
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$work/bin" "$work/logs"

echo "building the tests"
names=() dirs=()
while read -r path dir; do
	name=${path//\//.}
	go test -c ${build[@]+"${build[@]}"} -o "$work/bin/$name" "$path"
	names+=("$name") dirs+=("$dir")
done < <(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' "${packages[@]}")
[ ${#names[@]} -gt 0 ] || { echo "no package has tests" >&2; exit 1; }

# They end by themselves should this script be killed.
count=$((${SHAKE_LOOPS:-2} * $(getconf _NPROCESSORS_ONLN)))
for ((i = 0; i < count; i++)); do
	sh -c 'while kill -0 "$1" 2>/dev/null; do i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; done' sh $$ &
	loops+=($!)
done
echo "$rounds runs of ${#names[@]} packages beside $count busy loops, without ${skip//[^A-Za-z]/}"

passed=0
failures=()
for ((round = 1; round <= rounds; round++)); do
	for i in "${!names[@]}"; do
		log=$work/logs/${names[i]}.$round.log
		begun=$SECONDS
		if (cd "${dirs[i]}" && exec "$work/bin/${names[i]}" -test.timeout "${SHAKE_TIMEOUT:-15m}" -test.skip "$skip" ${flags[@]+"${flags[@]}"}) >"$log" 2>&1 </dev/null; then
			rm -f "$log"
			passed=$((passed + 1)) verdict=ok
		else
			failures+=("$log") verdict=FAILED
		fi
		printf '%d/%d  %-6s  %4d s  %s\n' "$round" "$rounds" "$verdict" $((SECONDS - begun)) "${names[i]}"
	done
done

for log in ${failures[@]+"${failures[@]}"}; do
	printf '\n%s\n' "$log"
	grep -E -- '^ *--- FAIL|replays it|^panic:|^SIG|DATA RACE' "$log" | sed 's/^/  /' || tail -5 "$log" | sed 's/^/  /'
done
echo "$passed passed, ${#failures[@]} failed"
[ ${#failures[@]} -eq 0 ]
