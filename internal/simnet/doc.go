// Package simnet simulates a network for tests: it connects ranks of one process and
// injects the faults of cables, machines and attackers.
//
// In a bubble of testing/synctest it uses the bubble's clock, so hours of faults pass in
// moments and a seed replays them.
//
// A Net behaves like TCP: what is sent arrives once and in order, or not at all. A
// direction that is cut delays its messages until it is healed; a connection that is
// reset, or whose rank was killed, fails at both ends for good.
package simnet
