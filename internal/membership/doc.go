// Package membership lets the survivors of a group agree on who is left. It is a pure
// state machine without a clock, goroutines or connections: its caller passes in messages
// and the ranks that are gone, and sends what it returns.
//
// # Guarantees
//
//   - Agreement: no two ranks of a group ever decide on different sets, no matter which
//     messages are lost, repeated or late, and which ranks are wrongly considered dead.
//   - Quorum: the set decided on is a quorum of the group, so two parts of a job that
//     lost each other never both continue. A quorum is more than half of the ranks, or
//     exactly half of them including rank 0.
//   - Validity: every rank in the set took part after the group had failed; no rank that
//     was known to be gone at the start of the decisive ballot is in it.
//   - Termination: while a quorum is alive and can communicate, the survivors decide as
//     soon as each has called, or has been found dead, even if any others die in the
//     meantime. There is no fixed coordinator: the lowest rank that is not known to be
//     gone leads, and the next one takes over.
//
// Without a quorum no rank decides; a rank that knows of too many deaths reports that
// (Hopeless) instead of waiting.
//
// A rank that dies after its promise may be in the set. The new group then fails, naming
// it, and can be shrunk in turn.
//
// # How
//
// It is single-decree Paxos with the set of ranks that answered as the value. The leader
// asks all ranks (Prepare); each answers with the set it accepted before, if any
// (Promise). When all have answered or are known to be gone, and those that answered are
// a quorum, the leader proposes the accepted set of the highest ballot or, if there is
// none, the set of those that answered (Accept). A set that a quorum has accepted is
// decided (Decide). A rank that has decided answers everything with Decide.
//
// The tests visit every reachable state of groups of two and three, with any order, loss
// and repetition of messages and any wrong suspicion, up to a bound on ballots, and many
// random states of groups of up to seven.
package membership
