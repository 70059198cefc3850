// Package doctor judges a cabling: what is plugged, set up and measured between
// machines, against what it should be.
//
// Examine is pure: it takes a topology.Graph and returns Checks, each with a
// status, the cause where it is not PASS, and the exact fix. Measure runs the
// project's own benchmark over every cable that can carry it (and perftest beside
// it where that is installed) and judges the result against what the link should
// do; see Expectation. A Report holds all of it and renders as text, JSON and the
// launch manifest in Markdown and HTML.
//
// The phases are those of the manifest: the physical link, TCP over it, RDMA over
// it. A check belongs to one machine, to one cable, or to all machines together.
//
// The exit code of a Report tells "broken" (1) from "there is nothing here to
// check" (3); see Report.ExitCode.
package doctor
