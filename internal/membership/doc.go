// Package membership is the agreement of a group's survivors on who is left. It is
// a pure state machine without clock, goroutine or connection: it is told what the
// fabric delivers and who is gone, and says what to send.
//
// # Guarantees
//
//   - Agreement: no two ranks of a group ever decide on different sets, whatever
//     messages are lost, repeated or late, and whoever is wrongly believed dead.
//   - Quorum: the set decided on is a quorum of the group, so two halves of a job
//     that lost each other never both go on. A quorum is more than half of the
//     ranks, or exactly half of them with rank 0 among these.
//   - Validity: everybody in the set took part after the group had failed; nobody
//     who was known to be gone at the start of the decisive ballot is in it.
//   - Termination: while a quorum lives and is in reach of each other, the survivors
//     decide as soon as each has called, or has been found dead, also when more
//     die meanwhile, whoever they are. There is no coordinator to lose: the lowest
//     rank that is not known to be gone leads, and the next one takes over.
//
// Without a quorum nobody decides; a rank that knows of too many deaths says so
// (Hopeless) instead of waiting. That is the one thing the agreement depends on.
//
// A rank that dies after it gave its promise may be in the set. The new group then
// fails, with its name, and can be shrunk in turn.
//
// # How
//
// It is single-decree Paxos with the set of ranks that answered as the value. The
// leader asks all (Prepare); each answers with what it accepted before, if anything
// (Promise). When all have answered or are known to be gone, and those that answered
// are a quorum, the leader proposes the accepted set of the highest ballot, or, if
// there is none, the set of those that answered (Accept). A set that a quorum has
// accepted is decided (Decide). A rank that has decided answers everything with
// Decide.
//
// The tests walk through every reachable state of groups of two and three with any
// order, loss and repetition of messages and any wrong suspicion, up to a bound on
// ballots, and through many random ones of up to seven.
package membership
