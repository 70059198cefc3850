// Package inspect reads what the flight recorders of a job's ranks left behind and
// says what went wrong: who was late, who is missing, who called something else, who
// waits for whom in Send and Recv.
//
// Load reads dumps from folders, files and running ranks. Examine merges them into a
// Report, whose Verdict is one line. WriteTable, WriteTimeline and WriteTrace show
// the rest: a table for the terminal, a page with a picture, and a trace that
// Perfetto and chrome://tracing open.
//
// Ranks on different machines have clocks that differ. Operations that every rank
// has to wait for end at nearly the same moment everywhere, so the median difference
// between their ends is taken for that of the clocks.
package inspect
