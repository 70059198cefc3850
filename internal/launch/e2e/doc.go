// Package e2e has no code of its own: its tests run the thunder binary as users
// do, against a real sshd, mpirun, Slurm and torchrun, each started and stopped
// by the tests on loopback addresses or in a network namespace of their own. A
// test whose software is missing is skipped and says what to install
// (scripts/install-test-deps.sh).
package e2e
