//go:build !linux && !darwin

package rendezvous

// bootID identifies this boot of the kernel; "" if the system does not tell.
func bootID() string { return "" }
