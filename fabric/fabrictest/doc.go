// Package fabrictest is the suite that every fabric provider passes: order, sizes from
// nothing to large, full duplex, independent channels, refused messages, cancellation,
// death of the peer, and close, with no goroutine left over and no allocation in steady
// state.
//
//	func TestConformance(t *testing.T) {
//		fabrictest.Run(t, fabrictest.Harness{New: newRanks, Abilities: fabrictest.Abilities{Borrow: true}})
//	}
//
// What not every provider can do has to be declared (Abilities). The suite fails if a
// declared ability is missing, and if one is there that was not declared; it never skips
// a test.
package fabrictest
