// Package setup puts the Thunderbolt ports of a cabling on addresses of their
// own, and takes them off again.
//
// MakePlans is pure: from a topology.Graph it makes one Plan a machine, with an
// address, an MTU and, where needed, the bridge to leave for each port that has a
// cable to another computer in it. Addresses follow from the identity of the
// cable's two ends, so the same cable gets the same addresses every time, on
// whichever machine the plan is made, and they avoid every network that any of
// the machines has an address or a route in.
//
// Apply carries a plan out on this machine. Before it changes anything it writes
// down, durably, how the interface was: the Journal. Undo goes by the journal
// alone and can be run after a crash at any point, and again after a crash of its
// own; it leaves addresses, routes, MTU and bridge membership as they were found.
// Interfaces that are not in the plan are never named in any command.
//
// Persist files make it last over a restart: a systemd-networkd or NetworkManager
// file per port, matched by hardware address since names depend on the order of
// plugging, or on macOS a launchd job that applies the stored plan at start-up.
package setup
