// Package output shows the output of a job's ranks: each line, preceded by a coloured
// rank@host, goes to the stream it came from. On a terminal there is a progress line
// below. Optionally, it also writes a log file for each rank.
package output
