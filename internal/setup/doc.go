// Package setup assigns addresses to Thunderbolt ports that have a cable to another
// computer, and can undo it.
//
// MakePlans makes a Plan for each machine of a topology.Graph: for each port an address,
// an MTU and, if necessary, the bridge to remove it from. The addresses are derived from
// the identity of the cable's two ends, so the same cable always gets the same addresses,
// on whichever machine the plan is made. They are outside of every network in which any
// of the machines has an address or a route.
//
// Machine.Apply carries out a plan on this machine. If a step fails, Apply undoes what it
// has done. Machine.Undo restores addresses, routes, MTU and bridge membership as they
// were before. It works after a crash at any point, also of Undo itself, because Apply
// first writes the state of each interface to disk, in the Journal. No command ever names
// an interface that is not in the plan.
//
// Files keep the addresses over a restart (see Persistence): one systemd-networkd or
// NetworkManager file for each port, or, on macOS, a launchd job that applies the stored
// plan at start-up. The files match ports by hardware address, because interface names
// depend on the order in which cables were plugged in.
package setup
