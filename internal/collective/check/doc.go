// Package check proves schedules right without moving a byte.
//
// Verify builds the schedules of all ranks of a group and executes them together
// on symbols: an element is the expression over the ranks' contributions that it
// would hold. Links are pure rendezvous (a send ends when the peer receives it)
// and writes obey the hazard rule, which is the worst that a fabric may do; and
// as a lane never chooses what to do next, a group of lanes that comes to its end
// in one order does so in every order. If Verify is content, then
//
//   - no rank blocks for ever and no message is left over; each message is as long
//     as its receiver expects;
//   - the result holds the contribution of each rank exactly once, has been marked
//     final exactly once, and is the same expression on every rank, that is, the
//     same bits;
//   - nothing but the result and scratch is written, nothing undefined is read, all
//     within the lengths that the schedule declares;
//   - lanes do not touch what another lane writes, nor share a direction of a link.
package check
