package rendezvous

import (
	"os"
	"strings"
)

// bootID identifies this boot of the kernel; "" if the system does not tell.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
