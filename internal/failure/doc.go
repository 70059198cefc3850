// Package failure has the errors with which a job, a group or an operation ends. They
// are part of the public API: the root package gives them their names, and its manual
// says when each is returned.
package failure
