// Package session knows who is in a job and who is alive, and decides why a group ends.
//
// A Session has a control channel to every other rank, on which notices of a fixed size
// travel: heartbeats, accusations, verdicts, goodbyes, the end of a group, and the
// question "I wait in operation 17, and you?". From those it finds out which ranks are
// dead (package liveness makes that decision) and what became of a rank whose data path
// broke. It ends groups, and agrees with the survivors on who is left (package
// membership).
//
// It sees a group through the interface Group, and a group sees its session through an
// interface of its own: neither package imports the other.
package session
