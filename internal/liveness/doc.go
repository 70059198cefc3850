// Package liveness decides, from heartbeats and closed connections, which rank of a job is
// dead. It is a pure state machine without a clock, goroutines or connections: its caller
// passes in times and events.
//
// # Evidence
//
// Each rank sends every other a heartbeat eight times per timeout T, independently of the
// data and of what the program does, so that a rank which computes for minutes is not
// considered dead. There are two kinds of evidence against a rank: its connection broke,
// or nothing has arrived from it for ¾ T. At two thirds of that time its machine is asked
// whether it answers, which distinguishes a stopped process from a cut cable; the answer
// becomes part of the cause.
//
// A rank that did not run itself (stopped, suspended) sees all others silent. It detects
// this by the gap between its own ticks and counts the silence from then on. A rank from
// which nothing has arrived yet may still be starting; it gets Grace more.
//
// T is Options.HeartbeatTimeout of the job: by default 2 s between machines and 15 s within
// one, where a rank is accused after 1.5 s and 11.25 s of silence.
//
// # Verdict
//
// Evidence becomes an accusation, which the accuser sends to all ranks. A rank that knows
// of one waits for others (T/8 for silence; T/20, but at most 150 ms, for a broken
// connection) and then convicts the rank with the most accusers; of several with as many,
// the highest. Accusers that more than half of the other accusers accuse do not count, as
// long as there are any others: the accusations of a dying rank may have reached only some
// ranks. So ranks which received the same accusations from living ranks decide the same,
// even when two living ranks lost each other and accuse each other. The verdict is sent to
// all ranks, and those that have none yet adopt it. After that the convicted rank's own
// accusations no longer count. A rank that hears from no other rank at all, while there
// are at least two others, convicts itself: its own cable is broken.
//
// An accuser that hears from a silent rank again before the verdict withdraws its
// accusation, at all ranks. Accusations of a broken connection stay: what it carried is
// lost. The other accusations of silence then get their time again, since one outage may
// be behind all of them. Accusations and withdrawals carry the accuser's time, because
// they reach the accused also through others, in any order. A verdict that falls before the
// withdrawal arrives still binds all.
//
// # Bounds
//
// A dead process is convicted within that wait after its connections broke. A silent rank
// is convicted after at most ¾ T + T/16 (tick) + T/8 from its last heartbeat, so within T
// of the moment the cable was cut; T/8 later if an accusation is withdrawn meanwhile.
// Ranks that see different evidence at the edge of the wait (two deaths) may convict in
// different orders; each dead rank is convicted everywhere in the end.
package liveness
