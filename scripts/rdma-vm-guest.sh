#!/bin/busybox sh
# The first process of the virtual machine of rdma-vm.sh: it sets up soft-RoCE and runs
# the parts named in /t/parts, or all.
#
#        rxe0                 rxe1
#   v0 10.9.0.1 --(veth)-- v1 10.9.1.1      both in this machine; all ranks of a job
#                                           use the same device
bb=/bin/busybox
$bb mount -t proc proc /proc
$bb mount -t sysfs sys /sys
$bb mount -t devtmpfs dev /dev
$bb mkdir -p /dev/shm
$bb mount -t tmpfs shm /dev/shm
$bb --install -s /bin 2>/dev/null
export PATH=/bin HOME=/tmp TMPDIR=/tmp
ip=/usr/bin/ip # not the one that is built into busybox

failed=0
say() { echo "rdma-vm: [$(cut -d' ' -f1 /proc/uptime) s] $*"; }
part() { # NAME COMMAND...: runs COMMAND if part NAME is wanted
	name=$1
	shift
	want=$(cat /t/parts)
	case " $want " in "  " | *" $name "*) ;; *) return ;; esac
	if "$@"; then say "$name: ok"; else
		say "$name: FAILED"
		failed=1
	fi
}

while read -r m; do insmod "/modules/$m.ko" || say "module $m does not load"; done </modules/order
ulimit -l unlimited
$ip link set lo up
$ip link add v0 mtu 4500 type veth peer name v1
$ip addr add 10.9.0.1/24 dev v0
$ip addr add 10.9.1.1/24 dev v1
$ip link set v0 up mtu 4500
$ip link set v1 up mtu 4500
rdma link add rxe0 type rxe netdev v0
rdma link add rxe1 type rxe netdev v1
chmod 666 /dev/infiniband/* # for the test of limits, which do not apply to root
say "$(uname -r), $(rdma link show | tr '\n' ' ')"
export THUNDER_TEST_RDMA=rxe0 THUNDER_TEST_RDMA_SECOND=rxe1

# Prints the number KEY of the JSON object on standard input.
number() { sed -n 's/.*"'"$1"'":\([-0-9.e+]*\).*/\1/p' | tail -n 1; }

# collectives RANKS FLAGS: runs every mode over RDMA and checks all elements; once with
# each of the flags ("-" for none).
collectives() {
	n=$1
	shift
	for mode in allreduce reducescatter allgather broadcast reduce gather scatter alltoall sendrecv barrier; do
		for alloc in "$@"; do
			[ "$alloc" != - ] || alloc=
			/t/thunder bench $mode -n "$n" --fabric rdma $alloc --min 64 --max 256KiB --factor 64 --iters 2 --warmup 0 --json \
				>/tmp/rows 2>/tmp/err || { say "$mode $alloc: $(tail -n 2 /tmp/err)"; return 1; }
			if ! grep -q '"fabric":"rdma"' /tmp/rows || grep -v '"wrong":0[,}]' /tmp/rows; then
				say "$mode $alloc: wrong, or not over RDMA"
				return 1
			fi
		done
	done
	say "$n ranks: 10 modes, wrong 0"
}

# perftest TOOL ARGS...: prints the last line of a run between two processes on rxe0.
perftest() {
	tool=$1
	shift
	"$tool" -d rxe0 -x 1 -F "$@" >/tmp/server 2>&1 &
	server=$!
	n=0
	until netstat -ltn | grep -q :18515; do
		n=$((n + 1))
		[ $n -lt 100 ] || break
		usleep 20000
	done
	"$tool" -d rxe0 -x 1 -F "$@" 127.0.0.1 >/tmp/client 2>&1
	wait $server
	grep -v '^[- ]*$' /tmp/client | grep '^ *[0-9]' | tail -n 1
}

# speed compares thunder with the perftest tools on the same device, in turns, so that
# both get the same conditions. Under emulation only the ratio means something.
speed() {
	size=65536
	best_tool=0 best_ours=0
	for round in 1 2; do
		w=$(perftest ib_write_bw -s $size -n 300 | awk '{print $4 * 1.048576}')
		s=$(perftest ib_send_bw -s $size -n 300 | awk '{print $4 * 1.048576}')
		o=$(/t/thunder bench ping-pong -n 2 --fabric rdma --alloc --size $size --iters 150 --warmup 20 --json 2>/tmp/err | number gbps)
		o=$(echo "${o:-0}" | awk '{print $1 * 1000}')
		say "round $round, 64 KiB, MB/s: ib_write_bw $w, ib_send_bw $s, thunder ping-pong $o"
		best_tool=$(echo "$w $s $best_tool" | awk '{m = $1; if ($2 > m) m = $2; if ($3 > m) m = $3; print m}')
		best_ours=$(echo "$o $best_ours" | awk '{print ($1 > $2 ? $1 : $2)}')
	done
	say "ib_send_lat, 64 B, typical us: $(perftest ib_send_lat -s 64 -n 50 | awk '{print $5}')," \
		"thunder ping-pong, one way: $(/t/thunder bench ping-pong -n 2 --fabric rdma --size 64 --iters 300 --json 2>/dev/null |
			sed -n 's/.*"p50":\([0-9.]*\).*/\1/p' | awk '{print $1 / 2}')"
	say "ratio $(echo "$best_ours $best_tool" | awk '{print $1 / $2}') of the faster tool; it must be at least 0.8"
	echo "$best_ours $best_tool" | awk '{exit !($1 >= 0.8 * $2)}'
}

# Bad input must give an error with the remedy, and an exit status other than 0.
refused() { # WORDS COMMAND...
	words=$1
	shift
	if "$@" >/tmp/out 2>&1 || ! grep -q "$words" /tmp/out; then
		say "not refused with '$words': $(tail -n 3 /tmp/out)"
		return 1
	fi
}
badinput() {
	bench="/t/thunder bench ping-pong -n 2 --size 64 --iters 1 --fabric"
	THUNDER_RDMA_DEVICES=mlx9 refused 'mlx9 does not exist; there is rxe0' $bench rdma || return 1
	THUNDER_RDMA_DEVICES=rxe0 THUNDER_RDMA_GID=99 refused 'no GID with index 99' $bench rdma || return 1
	$ip addr del 10.9.1.1/24 dev v1
	THUNDER_RDMA_DEVICES=rxe1 refused 'give its network interface an IPv4 address' $bench rdma || return 1
	$ip addr add 10.9.1.1/24 dev v1
	$ip link set v1 down
	THUNDER_RDMA_DEVICES=rxe1 refused 'port 1 is down' $bench rdma || return 1
	$ip link set v1 up
	mv /etc/libibverbs.d /etc/hidden
	refused 'no RDMA device' $bench rdma || return 1
	mv /etc/hidden /etc/libibverbs.d
	lib=$(find /usr/lib/ -name 'libibverbs.so.1*')
	for f in $lib; do mv "$f" "$f.hidden"; done
	refused 'no RDMA library libibverbs.so.1' $bench rdma || return 1
	for f in $lib; do mv "$f.hidden" "$f"; done
}
# leftovers checks that the kernel has no resources of ours left at the end.
leftovers() {
	rdma resource show
	! rdma resource show qp | grep -v 'type GSI\|type SMI' | grep . &&
		! rdma resource show cq | grep -v 'comm \[' | grep . &&
		! rdma resource show mr | grep .
}

# clock checks that changes of the system time do not affect a job. It sets the time forth
# and back while a job runs, which must continue; then it stops a rank, which the others
# must notice as fast as usual.
ops() { wget -q -O - http://127.0.0.1:9400/metrics 2>/dev/null | sed -n 's/^thunder_operations_total{.*allreduce.*} //p'; }
clock() {
	THUNDER_HEARTBEAT_TIMEOUT=1s THUNDER_METRICS=127.0.0.1:9400 /t/thunder launch -n 3 -- \
		/t/thunder bench allreduce --fabric tcp --min 64 --max 64 --iters 100000000 >/tmp/out 2>&1 &
	job=$!
	n=0
	until [ "$(ops || echo 0)" -gt 100 ] 2>/dev/null; do
		n=$((n + 1))
		[ $n -lt 200 ] || { say "the job does not work: $(tail -n 3 /tmp/out)"; return 1; }
		usleep 100000
	done
	for jump in 86400 -172800 3600 -3600; do
		now=$(date +%s)
		date -s "@$((now + jump))" >/dev/null
		moved=$(($(date +%s) - now))
		[ $((moved - jump)) -le 5 ] && [ $((moved - jump)) -ge 0 ] || { say "the clock went $moved s, not $jump"; return 1; }
		before=$(ops)
		usleep 1500000
		after=$(ops)
		if ! [ "$after" -gt "$before" ]; then
			say "stopped at $before operations after a jump of $jump s: $(tail -n 3 /tmp/out)"
			return 1
		fi
	done
	for p in /proc/[0-9]*; do
		if tr '\0' '\n' <"$p/environ" 2>/dev/null | grep -qx THUNDER_RANK=1 && grep -q bench "$p/cmdline"; then
			kill -STOP "${p#/proc/}"
		fi
	done
	since=$(cut -d. -f1 /proc/uptime)
	wait $job
	code=$?
	took=$(($(cut -d. -f1 /proc/uptime) - since))
	say "clock: $after operations; a stopped rank ended the job with status $code in $took s"
	[ $code != 0 ] && [ $took -le 12 ] && grep -q 'lost rank 1' /tmp/out
}

part verbs /t/verbs.test -test.run 'TestOpenUnknown|TestMissing|TestDevice|TestErrno|TestCalls' -test.v -test.timeout 60s
# Two threads, so that callers poll before they park, as with two processors.
part fabric env GOMAXPROCS=2 /t/rdma.test -test.run TestDevice -test.skip /rails=2/NoAllocations -test.v -test.timeout 300s
part collectives2 collectives 2 - --alloc
part collectives4 collectives 4 --alloc
part speed speed
part input badinput
part clock clock
part leftovers leftovers

[ $failed = 0 ] && echo "rdma-vm: all passed"
sync
poweroff -f
