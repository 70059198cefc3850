// Package output shows what the ranks of a job say: each line with a coloured
// rank@host in front, to the stream it came from, with a line of progress below
// when there is a terminal, and into a file per rank if asked for.
package output
