// Package probe reads what one machine knows about its own cabling: network
// interfaces, Thunderbolt/USB4 ports and what hangs on them, PCIe links, RDMA
// devices, limits, versions, temperature.
//
// The result is one report, Machine, a plain struct that travels as JSON. It
// holds facts only; judging them is for packages topology and doctor.
//
// Everything is read through a Source: files and directories under a root, and
// the output of a few commands. There are three of them:
//
//   - Live reads this machine.
//   - Open reads a captured machine: a directory, a .tar.gz made by
//     `thunder support-bundle`, or a .txtar file as used in the tests. A captured
//     machine keeps /proc and /sys files under their own names, the output of
//     commands under commands/ (see CommandFile), and symbolic links either as
//     such or as lines "path -> target" in a file named LINKS. A file named DIRS
//     ("path: name name") may list directories of which not all was captured.
//   - Recorder wraps another Source and keeps all that was read, which is what a
//     support bundle is made of: whatever the probes looked at, and no more.
//
// Every parser is a pure function over bytes, fuzzed, and never panics. What
// cannot be read is noted in Machine.Problems ("could not read X: why") and the
// rest of the report is still there. What is simply absent, such as boltctl on a
// machine without it, is not a problem.
package probe
