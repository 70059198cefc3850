// Package simnet is a network that exists only in tests: it joins ranks of one
// process and does to their messages what cables, machines and attackers do.
//
// Used inside a bubble of testing/synctest its time is that of the bubble, so hours
// of faults pass in moments and a seed replays them.
//
// A Net behaves like TCP: what is sent arrives once and in order, or not at all. A
// direction that is cut holds its messages back and delivers them when it is
// healed; a connection that is reset, or whose rank was killed, fails at both ends
// and does not come back.
package simnet
