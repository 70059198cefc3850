//go:build !linux

// Package lab makes machines out of network namespaces; it works on Linux only.
package lab
