// Package bench measures the collectives and proves them right.
//
// Run is called on every rank of a Comm with the same Config and emits a Row for
// each size; Table writes rows for people, Row.WriteJSON for programs, and Chart
// and Heat draw them. Nothing here knows how ranks were started: the ranks may be
// goroutines (thunder.Local) or processes on several machines (thunder.Init).
//
//	err := bench.Run(ctx, comm, bench.Config{Mode: bench.AllReduce, Min: 4, Max: 64 << 20, Warmup: -1},
//		func(r bench.Row) { r.WriteJSON(os.Stdout) })
//
// # What is checked
//
// Inputs are small integers that follow from rank and index by a hash, chosen such
// that every partial result is exact in the element type (values.go). So the right
// result of every element is known exactly, whatever the algorithm, and so are its
// bytes. They repeat after a prime number of elements, which makes filling and
// comparing as fast as memory, and lets no shift by a power of two pass.
//
// Two iterations of each size are checked: one before the timing, and the last
// timed one. Before each, inputs are filled in anew and outputs overwritten. After
// the last one the ranks exchange checksums of their results over the fabric; where
// all have to have the same result, a difference counts as wrong. Row.Checksum is
// the same on every rank and in every run.
//
// # What is measured
//
// Every rank takes the time of each iteration; the times of the ranks that take
// part are averaged, iteration by iteration, as nccl-tests averages over ranks.
// Total, minimum, percentiles and maximum are of those averages.
//
//	ElapsedSecs   the sum of all iterations
//	GBps          2 · size · iterations / elapsed, in GB/s (10^9 bytes)
//	AlgBW         size · iterations / elapsed
//	BusBW         AlgBW times the factor of the mode on n ranks
//
//	mode                                        size is                    factor
//	allreduce                                   the buffer                 2(n-1)/n
//	reducescatter, alltoall                     all n blocks sent          (n-1)/n
//	allgather, gather                           all n blocks received      (n-1)/n
//	scatter                                     all n blocks of the root   (n-1)/n
//	broadcast, reduce, sendrecv                 the buffer                 1
//
// PingPong is done by the pairs 0-1, 2-3, ... at once, and the last of an odd
// number of ranks looks on. An iteration is there and back, so its AlgBW is that of
// one direction: 2 · size over the round trip. SendRecv passes a message around the
// ring of ranks. Matrix takes one ordered pair after the other: Lat is the round
// trip of 8 bytes, AlgBW the one-way rate of a train of messages of Config.Max
// bytes, BothBW the rate of both directions together when both are used at once.
// A pair that is joined by several rails has a row for all of them together, and one
// for each rail alone (Row.Rail).
package bench
