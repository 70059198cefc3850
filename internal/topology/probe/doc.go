// Package probe reads the hardware and network setup of a machine: interfaces,
// Thunderbolt/USB4 ports and what is plugged into them, PCIe links, RDMA devices,
// limits, versions, temperature.
//
// Probe returns a Machine, a plain struct that can be sent as JSON. It contains facts
// only; packages topology and doctor evaluate them.
//
// Probe does not fail. Machine.Problems lists what could not be read ("could not read X:
// why"), and the rest of the report is still there. Something that is not installed, such
// as boltctl, is not a problem.
//
// Probe reads from a Source: files and directories under a root, and the output of a few
// commands. There are three Sources:
//
//   - Live reads this machine.
//   - Open reads a captured machine: a directory, a .tar.gz made by
//     `thunder support-bundle`, or a .txtar file as used in the tests. A captured machine
//     has /proc and /sys files under their own names, the output of commands under
//     commands/ (see CommandFile), and symbolic links either as such or as lines
//     "path -> target" in a file LINKS. A file DIRS ("path: name name") may list
//     directories that were captured only in part.
//   - Recorder wraps another Source and keeps everything that was read. A support bundle
//     consists of that: the files that the probes read, and no others.
//
// Every parser is a pure function over bytes, is fuzzed, and never panics.
package probe
