// Package telemetry is what a rank tells about itself: counters for Prometheus, and the
// flight recorder's dumps for thunder inspect.
//
// A Job collects from sources, one for each group, which count and record their own
// operations without locks. Nothing here is on the way of an operation; collecting
// happens when somebody scrapes, asks for a dump, or a group fails.
package telemetry
