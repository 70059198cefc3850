// Package cabling models which ranks are connected by cables, and derives from it which
// ranks relay between two that are not, and the shape and order of collectives.
//
// Everything is a pure function of the list of cables, and the same on every rank.
//
// # What a collective costs
//
// Let a cable carry w Gb/s in each direction. Reducing S bytes over n ranks takes
//
//	around a ring, both ways       (n-1)/n · S / w    w of the slowest cable in it
//	up and down a tree, pipelined            S / w    w of the slowest cable in it
//	directly to the owner of each  2/n · S / w        w of the slowest cable of all;
//	block, and back                                   only if all are connected
//
// Best chooses the fastest. The ring is a Hamiltonian cycle whose slowest cable is as
// fast as possible; the tree is a spanning tree with the same property, rooted in its
// middle. Neither is always optimal: packing several trees could use cables that these
// leave idle. By the theorem of Nash-Williams and Tutte, no packing is faster than the
// minimum, over all partitions of the ranks into p parts, of the sum of the rates between
// parts divided by p-1; Bound computes that.
package cabling
