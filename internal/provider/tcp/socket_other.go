//go:build !linux

package tcp

import "net"

// newSocket makes the socket of a data stream out of a connection.
func newSocket(c *net.TCPConn) (socket, error) { return newPlainSocket(c) }
