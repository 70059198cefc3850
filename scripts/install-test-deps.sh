#!/bin/sh
# Installs what the privileged and the visual tests need, on Debian and Ubuntu. It runs
# apt-get only if something is missing. Without root it prints what is missing; the tests
# that need it are skipped.
#
#   command        package         for
#   ip             iproute2        network namespaces (setup, netns tests)
#   iperf3         iperf3          the rate of a cable, to compare (make test-rails)
#   nft            nftables        dropping packets in one direction
#   ping           iputils-ping    testing an applied setup
#   chromium       chromium        tests of rendered SVG and HTML
#   sshd, ssh      openssh-*       jobs over ssh, on loopback (launch/e2e)
#   mpirun         openmpi-bin     ranks under Open MPI
#   srun           slurm-wlm       ranks under a single-machine Slurm
#   munged         munge           Slurm's authentication
#   nsenter        util-linux      running Slurm in a namespace of its own
set -eu

missing=
need() { # need COMMAND PACKAGE
	if ! command -v "$1" >/dev/null 2>&1; then
		missing="$missing $2"
	fi
}

need ip iproute2
need nft nftables
need ping iputils-ping
need iperf3 iperf3
need chromium chromium
need sshd openssh-server
need ssh openssh-client
need mpirun openmpi-bin
need slurmctld slurmctld
need slurmd slurmd
need srun slurm-client
need munged munge
need nsenter util-linux

# The header for the test of struct layouts.
[ -e /usr/include/infiniband/verbs.h ] || missing="$missing libibverbs-dev"

if [ -z "$missing" ]; then
	echo "test dependencies: all present"
	exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
	echo "test dependencies missing:$missing (no apt-get here; the tests that need them will skip)" >&2
	exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "test dependencies missing:$missing (not root; the tests that need them will skip)" >&2
	exit 0
fi
apt-get update -qq
# shellcheck disable=SC2086 # a list of package names
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing fonts-dejavu-core >/dev/null
echo "test dependencies installed:$missing"
