// Package topology finds out how several machines are cabled together. Build combines
// their reports (package topology/probe) into a Graph: the machines, the cables between
// them, the networks they share, the shape (mesh, ring, chain, ...) and which cables to
// add for a better shape. A Graph can be written as a table, as Graphviz, as SVG and as
// a hostfile.
//
// Build never fails: what a report does not tell is missing in the Graph, and a cable
// that only one end reports is marked as such (Cable.Match).
//
// Build matches the two ends of a cable by identity, not by position: each Thunderbolt
// port reports the domain that it sees at the far end. So several cables between two
// machines are kept apart, and computers behind hubs are found at any depth. If one
// controller serves several ports and identity does not tell them apart, Build looks at
// the neighbours that the network interfaces have seen. If that does not help either, it
// pairs the ends in order and marks the match as assumed.
package topology
