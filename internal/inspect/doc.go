// Package inspect reads the dumps of the flight recorders of a job's ranks and reports
// what went wrong: which rank was late, is missing or called a different operation, and
// which ranks wait for each other in Send and Recv.
//
// Load reads dumps from directories, files and running ranks. Examine merges them into
// a Report, whose Verdict is one line. WriteTable, WriteTimeline and WriteTrace write
// the details: a table for the terminal, an HTML page with a picture, and a trace that
// Perfetto and chrome://tracing can open.
//
// The clocks of different machines differ. Operations in which every rank waits for all
// others end at nearly the same moment everywhere, so Examine uses the median difference
// between their ends as the difference between the clocks.
package inspect
