// Package cabling knows which ranks are joined by cables, and what follows from it:
// by whom something is relayed between two that are not, and in which order
// collectives should go around.
//
// All of it is a pure function of the list of cables, the same at every rank.
//
// # What a collective costs
//
// Let a cable carry w Gb/s in each direction. Reducing S bytes over n ranks takes
//
//	around a ring, both ways       (n-1)/n · S / w    w of the slowest cable in it
//	up and down a tree, pipelined            S / w    w of the slowest cable in it
//	straight to the owner of each  2/n · S / w        w of the slowest cable of all;
//	block, and from it                                only where all are joined
//
// Best takes the least. The ring is a Hamiltonian cycle whose slowest cable is as
// fast as can be; the tree a spanning tree of that kind, rooted in its middle.
// Neither is always the best that the graph has: packing several trees could use
// what these leave idle. By the theorem of Nash-Williams and Tutte no packing is
// faster than the least, over all partitions of the ranks into p parts, of the
// rates between parts added up over p-1; Bound computes that.
package cabling
