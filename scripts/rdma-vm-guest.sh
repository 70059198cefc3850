#!/bin/busybox sh
# The first process of the virtual machine of rdma-vm.sh: brings up soft-RoCE and
# runs the parts named in /t/parts, or all.
#
#        rxe0                 rxe1
#   v0 10.9.0.1 --(veth)-- v1 10.9.1.1      both in this machine; ranks of one
#                                           job meet on the same device
bb=/bin/busybox
$bb mount -t proc proc /proc
$bb mount -t sysfs sys /sys
$bb mount -t devtmpfs dev /dev
$bb mkdir -p /dev/shm
$bb --install -s /bin 2>/dev/null
export PATH=/bin HOME=/tmp TMPDIR=/tmp

failed=0
say() { echo "rdma-vm: [$(cut -d' ' -f1 /proc/uptime) s] $*"; }
part() { # NAME COMMAND...: run it if it was asked for
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
/usr/bin/ip link set lo up
/usr/bin/ip link add v0 mtu 4500 type veth peer name v1
/usr/bin/ip addr add 10.9.0.1/24 dev v0
/usr/bin/ip addr add 10.9.1.1/24 dev v1
/usr/bin/ip link set v0 up mtu 4500
/usr/bin/ip link set v1 up mtu 4500
rdma link add rxe0 type rxe netdev v0
rdma link add rxe1 type rxe netdev v1
say "$(uname -r), $(rdma link show | tr '\n' ' ')"
export THUNDER_TEST_RDMA=rxe0 THUNDER_TEST_RDMA_SECOND=rxe1

part verbs /t/verbs.test -test.run 'TestOpenUnknown|TestMissing|TestDevice' -test.v -test.timeout 60s

part fabric /t/rdma.test -test.run 'TestDevice' -test.v -test.timeout 300s

[ $failed = 0 ] && echo "rdma-vm: all passed"
sync
poweroff -f
