// Package e2e holds the tests that drive whole jobs through the public API: every
// operation over every fabric, faults in simulated networks and in real processes,
// hostile peers, cables that are cut, and what a job may leave behind (nothing).
package e2e
