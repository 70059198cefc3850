// Package recorder is the flight recorder: what a rank keeps of its last operations,
// and the form in which that is dumped.
//
// A Ring holds the last few thousand operations of one group, or the last few hundred
// messages in one direction between two ranks. Noting one writes a cache line or two,
// without a lock or a fence, and allocates nothing; see package publish. Times come
// from the caller, on a clock that never jumps, and become dates only in a Dump.
package recorder
