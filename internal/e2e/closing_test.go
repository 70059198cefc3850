//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"thundercollective/internal/freeaddr"
)

// TestCloseAfterLoss has a rank lose its peer, to which it has two rails, while much is
// under way: closing does not wait for a peer that is known to be lost.
func TestCloseAfterLoss(t *testing.T) {
	j := newChaosJob(t)
	j.story = "start"
	var list []string
	for _, addrs := range freeaddr.Rails(t, 2) {
		list = append(list, `["`+strings.ReplaceAll(addrs, ",", `","`)+`"]`)
	}
	for r := range list {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVar+"=chaos", fmt.Sprintf("THUNDER_RANK=%d", r), "THUNDER_TOKEN=secret", "THUNDER_FABRIC=tcp",
			"THUNDER_HOSTFILE=["+strings.Join(list, ",")+"]", "THUNDER_TEST_SEED=2", "THUNDER_HEARTBEAT_TIMEOUT=1s")
		j.start(cmd)
	}
	j.working()
	j.story = "rank 1 is stopped"
	j.ps[1].Process.Signal(syscall.SIGSTOP)
	stopped := time.Now()
	_, took, cause := j.expectLoss(stopped, []int{1}, 1)
	j.drop(1)
	j.working()
	begun := time.Now()
	j.end()
	closing := time.Since(begun)
	t.Logf("lost after %v (%s), closed in %v", took, cause, closing)
	if closing > 1500*time.Millisecond {
		t.Errorf("closing took %v", closing)
	}
}
