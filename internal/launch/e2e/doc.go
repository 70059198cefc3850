// Package e2e contains only tests. They run the thunder binary as users do, with a real
// sshd, mpirun, Slurm and torchrun, each started and stopped by the tests on loopback
// addresses or in a network namespace. A test whose software is missing is skipped and
// reports what to install (scripts/install-test-deps.sh).
package e2e
