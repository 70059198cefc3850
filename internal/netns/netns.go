// Package netns makes network namespaces, which act as machines in tests.
//
// It needs Linux, root and the command ip; tests are skipped without them.
package netns

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

var made atomic.Int64

// New makes n namespaces and returns their names; they are deleted when the test ends.
// They have only a loopback interface, which is down. tools are other commands that the
// test needs.
func New(t testing.TB, n int, tools ...string) []string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: needs root, to make network namespaces")
	}
	for _, tool := range append([]string{"ip"}, tools...) {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: needs %s (scripts/install-test-deps.sh installs it)", tool)
		}
	}
	names := make([]string, n)
	for i := range names {
		name := fmt.Sprintf("thunder-%d-%d", os.Getpid(), made.Add(1))
		switch out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); {
		case err != nil && i == 0:
			t.Skipf("SKIPPED: cannot make network namespaces here: %s", out)
		case err != nil:
			t.Fatalf("network namespace %d of %d: %v\n%s", i+1, n, err, out)
		}
		t.Cleanup(func() {
			if out, err := exec.Command("ip", "netns", "del", name).CombinedOutput(); err != nil {
				t.Errorf("a network namespace is left: %v\n%s", err, out)
			}
		})
		names[i] = name
	}
	return names
}

// Inside returns the command line that runs argv in a namespace.
func Inside(ns string, argv ...string) []string {
	return append([]string{"ip", "netns", "exec", ns}, argv...)
}

// Machine returns the command line that runs argv in a namespace which also has a boot id
// of its own, as a machine has. The name of the machine is still that of this one.
func Machine(t testing.TB, ns string, argv ...string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "boot_id")
	sum := sha256.Sum256([]byte(ns))
	if err := os.WriteFile(file, fmt.Appendf(nil, "%x-%x-%x-%x-%x\n", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]), 0o644); err != nil {
		t.Fatal(err)
	}
	// ip netns exec has made a mount namespace for it.
	return Inside(ns, append([]string{"sh", "-c", `mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"`, file}, argv...)...)
}

// Command returns a command that runs in a namespace.
func Command(ctx context.Context, ns string, argv ...string) *exec.Cmd {
	argv = Inside(ns, argv...)
	return exec.CommandContext(ctx, argv[0], argv[1:]...)
}

// Run runs a command that has to succeed, and returns what it printed.
func Run(t testing.TB, argv ...string) []byte {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return out
}
