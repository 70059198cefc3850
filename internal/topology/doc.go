// Package topology joins the reports of several machines (package
// topology/probe) into one picture of who is cabled to whom.
//
// Build matches the two ends of every cable by identity, never by position: a
// Thunderbolt port says which domain it sees at the far end, and the far end says
// the same of this one. Several cables between two machines stay apart; computers
// behind hubs are found at any depth. Where one controller serves several ports
// and identity alone cannot tell which is which, the neighbours seen on the
// interfaces decide; failing that the pairing is marked as assumed.
//
// A Graph holds the machines, the cables, the networks they share besides, the
// shape (mesh, ring, chain, ...) and what to plug to get a better one. It renders
// as a table, as Graphviz, as SVG, and as a hostfile.
package topology
