// Package house checks that the tree keeps to the rules of ARCHITECTURE.md: what may be
// imported from outside, which package lies above which, how large a struct may grow, and
// that the documents name what is there. It has tests only.
package house
