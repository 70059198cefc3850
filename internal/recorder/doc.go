// Package recorder is the flight recorder: it keeps the last operations of a rank, and
// defines the format in which they are dumped.
//
// A Ring holds the last few thousand operations of one group, or the last few hundred
// messages in one direction between two ranks. Recording one writes a cache line or two,
// without a lock, a fence (see package publish) or an allocation. Times come from a
// monotonic clock of the caller and are converted to dates only in a Dump.
package recorder
