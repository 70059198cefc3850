package rendezvous

import "golang.org/x/sys/unix"

// bootID identifies this boot of the kernel; "" if the system does not tell.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
