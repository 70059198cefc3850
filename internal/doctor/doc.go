// Package doctor checks the cabling and the setup of machines, and tells what is wrong
// and how to fix it.
//
// NewReport runs all checks on a topology.Graph. A Report can be written as text, as
// JSON, and as the launch manifest in Markdown and HTML. Each Check has a status and,
// unless it passed, the cause and the exact fix. Report.ExitCode distinguishes "broken"
// (1) from "nothing here to check" (3).
//
// A check belongs to one machine, to one cable, or to all machines together, and to one
// of the three phases of bringing up a cable: the physical link, TCP over it, RDMA over
// it.
//
// Examine runs the checks that need no traffic; it depends on the Graph only. A Meter
// runs thunder's benchmark over every cable that can carry traffic, and perftest where
// that is installed; NewReport compares the results with what the cable should reach (see
// Expect). A measurement that fails becomes a failed check, not an error.
//
// A Bundle is a captured machine for a bug report, with secrets removed.
package doctor
