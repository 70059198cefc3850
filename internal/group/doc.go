// Package group runs the operations of one group of ranks.
//
// A Group gives every operation its turn and its number, plans it, records it, and has
// package collective carry it out. Collectives take turns in one queue; point-to-point
// messages have a queue for each peer and direction. What ranks have to agree on about
// an operation is its call, which travels as the tag of every message, so that ranks
// that disagree find out before a payload byte is looked at.
//
// A group ends with its first error. The session (an interface here) tells the other
// ranks, and finds out which rank an error is to be blamed on.
package group
