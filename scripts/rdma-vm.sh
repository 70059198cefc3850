#!/bin/sh
# Tests the RDMA fabric on a real kernel device: it boots Debian's kernel with soft-RoCE
# (rdma_rxe) in emulated virtual machines and runs scripts/rdma-vm-guest.sh in them. One
# part is not about RDMA: it changes the system time, which only a virtual machine allows.
#
#   scripts/rdma-vm.sh           all parts, in two virtual machines in parallel;
#                                exit status 0 if all passed
#   scripts/rdma-vm.sh PART...   only these parts (see rdma-vm-guest.sh), in one machine
#
# The image consists of distribution packages, which apt-get downloads; this needs no root.
# The image is kept in the user's cache, under a name derived from the versions of the
# packages and from this script. If the machine cannot run it (no qemu and no way to install
# it, no apt-get), the script prints one line and exits with status 0.
#
# The clock of the virtual machines counts instructions (-icount), so measurements do not
# depend on the load of the host.
#
#   RDMA_VM_LOG       directory for the logs of the consoles
#   RDMA_VM_TIMEOUT   time limit of a virtual machine in seconds (900)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tree=$(dirname "$here")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/thundercollective/rdma-vm
limit=${RDMA_VM_TIMEOUT:-900}

packages="busybox-static ibverbs-providers ibverbs-utils perftest iproute2"
# In the order in which they must be loaded.
modules="crc32_generic udp_tunnel ip6_udp_tunnel ib_core ib_uverbs rdma_rxe veth"
programs="busybox ip rdma ibv_devinfo ib_write_bw ib_send_bw ib_send_lat"

skip() {
	echo "rdma-vm: SKIPPED, RDMA IS NOT TESTED ON A REAL DEVICE: $*" >&2
	exit 0
}
say() { echo "rdma-vm: $*" >&2; }

# resolve prints the packages of the image, one per line, as name=version: the wanted ones
# with all their dependencies, and the kernel.
resolve() {
	kernel=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: *\(linux-image-[0-9].*\)/\1/p' | head -n 1)
	[ -n "$kernel" ] || return 1
	: >"$tmp/status"
	# shellcheck disable=SC2086
	apt-get -o Dir::State::status="$tmp/status" --no-install-recommends --print-uris -y -qq \
		install $packages 2>/dev/null |
		sed -n "s/^'[^']*' \([^_]*\)_\([^_]*\)_[a-z0-9]*\.deb .*/\1=\2/p" | sed 's/%3a/:/' | sort
	apt-cache show --no-all-versions "$kernel" | sed -n 's/^Package: \(.*\)/\1/p;s/^Version: \(.*\)/=\1/p' |
		tr -d '\n' && echo
}

# build makes the image from the packages in $tmp/packages.
build() {
	say "making the image from $(wc -l <"$tmp/packages") packages"
	mkdir -p "$tmp/deb" "$tmp/all/usr/bin" "$tmp/all/usr/sbin" "$tmp/all/usr/lib" "$tmp/all/usr/lib64"
	for d in bin sbin lib lib64; do ln -s usr/$d "$tmp/all/$d"; done
	# shellcheck disable=SC2046
	(cd "$tmp/deb" && apt-get -qq -o APT::Sandbox::User="$(id -un)" download $(cat "$tmp/packages"))
	for deb in "$tmp"/deb/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$tmp/all"
	done

	img=$tmp/image
	mkdir -p "$img"/usr/bin "$img"/usr/lib "$img"/etc "$img"/proc "$img"/sys "$img"/dev "$img"/tmp "$img"/modules
	ln -s usr/bin "$img/bin"
	ln -s usr/bin "$img/sbin"
	ln -s usr/lib "$img/lib"
	ln -s usr/lib "$img/lib64"
	for p in $programs; do
		cp -L "$(find "$tmp/all/usr/bin" "$tmp/all/usr/sbin" -name "$p" | head -n 1)" "$img/usr/bin/"
	done
	# The libraries without their subdirectories, except the verbs providers.
	libdir=$(dirname "$(find "$tmp/all/usr/lib" -name libc.so.6 | head -n 1)")
	rel=${libdir#"$tmp/all/"}
	mkdir -p "$img/$rel"
	find "$libdir" -maxdepth 1 -name '*.so*' -exec cp -P {} "$img/$rel/" \;
	cp -a "$libdir/libibverbs" "$img/$rel/"
	cp -a "$tmp/all/etc/libibverbs.d" "$img/etc/"
	cp -L "$(find "$tmp/all/usr/lib/" "$tmp/all/usr/lib64/" -name 'ld-linux-x86-64.so.2' | head -n 1)" "$img/usr/lib/"
	for m in $modules; do
		file=$(find "$tmp/all/usr/lib/modules" -name "$m.ko*" | head -n 1)
		case $file in
		*.xz) xz -dc "$file" >"$img/modules/$m.ko" ;;
		*.ko) cp "$file" "$img/modules/" ;;
		*) say "note: the kernel has no module $m (built in)"; continue ;;
		esac
		echo "$m" >>"$img/modules/order"
	done

	mkdir -p "$tmp/done"
	cp "$tmp"/all/boot/vmlinuz-* "$tmp/done/vmlinuz"
	cp "$img/usr/bin/busybox" "$tmp/done/busybox"
	pack "$img" "$tmp/done/busybox" "$tmp/done/base.cpio"
	mkdir -p "$cache"
	find "$cache" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
	# Another run may have been faster.
	mv "$tmp/done" "$cache/$key" 2>/dev/null || [ -e "$cache/$key/base.cpio" ]
}

# pack DIR BUSYBOX FILE makes an initramfs archive.
pack() { (cd "$1" && find . | sort | "$2" cpio -o -H newc -R 0:0 2>/dev/null) >"$3"; }

[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || skip "this is $(uname -s) on $(uname -m); it needs Linux on x86_64"
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || skip "no apt-get here to make the image with"
if ! command -v qemu-system-x86_64 >/dev/null; then
	[ "$(id -u)" = 0 ] || skip "qemu-system-x86_64 is missing (apt install qemu-system-x86)"
	say "installing qemu-system-x86"
	apt-get -qq -y --no-install-recommends install qemu-system-x86 >/dev/null 2>&1 ||
		skip "qemu-system-x86_64 is missing and apt-get could not install it"
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

resolve >"$tmp/packages" && [ -s "$tmp/packages" ] || skip "apt-get does not know the packages (apt-get update, or no network)"
key=$({ cat "$tmp/packages"; sed -n '/^packages=/,/^programs=/p;/^build()/,/^}/p;/^pack()/p' "$0"; } | sha256sum | cut -c 1-16)
[ -e "$cache/$key/base.cpio" ] || build || skip "the packages could not be fetched"

say "building the programs under test"
mkdir -p "$tmp/root/t"
cd "$tree"
export CGO_ENABLED=0
go test -c -o "$tmp/root/t/verbs.test" ./internal/provider/rdma/verbs
go test -c -o "$tmp/root/t/rdma.test" ./internal/provider/rdma
go build -o "$tmp/root/t/thunder" ./cmd/thunder
cp "$here/rdma-vm-guest.sh" "$tmp/root/init"
chmod 755 "$tmp/root/init"

# boot NAME PART...: runs the parts in a virtual machine.
boot() {
	name=$1
	shift
	cp -r "$tmp/root" "$tmp/root-$name"
	echo "$*" >"$tmp/root-$name/t/parts"
	pack "$tmp/root-$name" "$cache/$key/busybox" "$tmp/extra-$name"
	cat "$cache/$key/base.cpio" "$tmp/extra-$name" >"$tmp/initrd-$name"
	timeout "$limit" qemu-system-x86_64 -accel tcg,thread=single -icount shift=1,sleep=off -cpu max -smp 1 -m 1024 \
		-nodefaults -no-reboot -display none -serial stdio -kernel "$cache/$key/vmlinuz" -initrd "$tmp/initrd-$name" \
		-append "console=ttyS0 quiet panic=-1 mitigations=off" </dev/null |
		tr -d '\r' | tee "$logs/rdma-vm-$name.log" | sed -n 's/^.*rdma-vm: /rdma-vm: /p;/^ *--- FAIL/p;/^panic:/,$p'
}

logs=${RDMA_VM_LOG:-$tmp}
rm -f "$logs"/rdma-vm-*.log
say "booting (plain emulation; the times below are the machine's)"
if [ $# -gt 0 ]; then
	boot parts "$@"
else
	boot checks verbs fabric input clock leftovers &
	boot jobs collectives2 collectives4 speed leftovers &
	wait
fi
for log in "$logs"/rdma-vm-*.log; do
	grep -q '^rdma-vm: all passed$' "$log" && continue
	say "FAILED; the end of $(basename "$log"):"
	tail -n 60 "$log" >&2
	failed=1
done
exit "${failed:-0}"
