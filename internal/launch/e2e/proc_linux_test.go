package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// children returns the processes that pid started.
func children(pid int) []int {
	var list []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, s := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(s); err == nil {
				list = append(list, child)
			}
		}
	}
	return list
}

// descendants returns the processes that pid started, and those they did.
func descendants(pid int) []int {
	var list []int
	for _, child := range children(pid) {
		list = append(list, child)
		list = append(list, descendants(child)...)
	}
	return list
}

func cmdline(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(bytes.ReplaceAll(b, []byte{0}, []byte(" ")))
}

// pending reports whether a signal to a process has not been delivered yet.
func pending(pid int, sig syscall.Signal) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(b)) {
		if mask, ok := strings.CutPrefix(line, "ShdPnd:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return err == nil && n&(1<<(sig-1)) != 0
		}
	}
	return false
}
