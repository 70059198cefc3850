// Package bench measures the collectives and checks their results.
//
// Every rank of a Comm calls Run with the same Config, and Run emits a Row for each
// size. Table writes rows for people, Row.WriteJSON for programs, and Chart and Heat
// draw them. It does not matter how the ranks were started: they may be goroutines
// (thunder.Local) or processes on several machines (thunder.Init).
//
//	err := bench.Run(ctx, comm, bench.Config{Mode: bench.AllReduce, Min: 4, Max: 64 << 20, Warmup: -1},
//		func(r bench.Row) { r.WriteJSON(os.Stdout) })
//
// # What is checked
//
// Inputs are small integers, a hash of rank and index, chosen so that every partial
// result is exact in the element type (values.go). So the bytes of the correct result
// are known, whatever the algorithm. The inputs repeat after a prime number of elements:
// filling and comparing buffers is as fast as memory, and a result that is shifted by a
// power of two is detected.
//
// An iteration before the timed ones is checked, and every timed one, as far as a budget
// of time allows (Config.Check); Row.Checked has their number. The checks are done between
// the timed iterations, outside the time. Before each, the operands of a reduction in
// place are filled in again, and outputs are changed in places; before the first and the
// last one, all inputs are filled in and all outputs overwritten. A check writes and reads
// only what the iteration before it left in the caches, and takes ranks equally long, so
// the next iteration takes as long as without it. Matrix times a series of messages as a
// whole and checks the last of each.
//
// After the last iteration the ranks exchange checksums of their results; in modes in which
// all ranks have the same result, a difference counts as wrong. Row.Checksum is the same on
// every rank and in every run.
//
// # What is measured
//
// Every rank times each iteration. The times of the participating ranks are averaged,
// iteration by iteration, as nccl-tests does. Total, minimum, percentiles and maximum
// are taken over those averages.
//
//	ElapsedSecs   the sum of all iterations
//	GBps          2 · size · iterations / elapsed, in GB/s (10^9 bytes): bytes both ways;
//	              twice AlgBW, but equal to it in PingPong and Matrix
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
// PingPong runs on the pairs 0-1, 2-3, ... at the same time; if the number of ranks is
// odd, the last one does nothing. One iteration sends the message there and back, so
// AlgBW is the rate of one direction: 2 · size over the time. In SendRecv every rank
// sends to the next and receives from the previous one. Matrix measures one ordered pair
// after the other: Lat is the time of 8 bytes there and back, AlgBW the one-way rate of
// a series of messages of Config.Max bytes, BothBW the rate of both directions together
// when both are used at once. A pair connected by several rails has one row for all
// rails together, and one for each rail alone (Row.Rail).
package bench
