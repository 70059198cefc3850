// Package liveness decides, from heartbeats and closed connections, which rank of
// a job is dead. It is a pure state machine: it has no clock, no goroutine and no
// connection, and is told of all three.
//
// # Evidence
//
// Each rank sends every other a heartbeat eight times per timeout T, beside the
// data and whatever the program does, so that a rank which computes for minutes is
// not taken for dead. There are two kinds of evidence against a rank: its
// connection broke, or nothing has come from it for ¾ T. Half way to that it is
// worth asking its machine whether it is still there; the answer tells a stopped
// process from a cable that was cut, and goes into the cause.
//
// A rank that was itself not running (stopped, suspended) sees everybody silent.
// It notices by the gap between its own ticks and counts the silence from then on.
// A rank that has not been heard of at all may still be starting; it gets Grace
// more.
//
// # Verdict
//
// Evidence is an accusation, which the accuser tells everybody. A rank that knows
// of one waits a moment for others (T/8 where it is about silence, T/20 but at most
// 150 ms where a connection broke) and then convicts the rank with most accusers, the
// highest of those with as many. Accusers that more than half of the others accuse do
// not count, as long as there are any who do: what a dying rank said of another may have
// reached only some. So ranks which heard the same of the living decide the same, also
// when two ranks that are both alive lost each other and each accuses the other. The
// verdict is told to everybody, and adopted by those that have none yet. What the
// convicted said about others does not count any more. A rank that hears from
// nobody at all, while there are at least two others, convicts itself: it is its
// own cable.
//
// # Bounds
//
// A dead process is convicted that moment after its connections broke; silence is
// convicted after at most ¾ T + T/16 (tick) + T/8, counted from the last heartbeat,
// so within T of the moment the cable was cut. Ranks that see different evidence
// within the same moment (two deaths, at the edge of the wait) may convict in a
// different order; each dead rank is convicted everywhere in the end.
package liveness
