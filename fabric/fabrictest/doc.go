// Package fabrictest is the suite that every fabric provider passes: order,
// sizes from nothing to large, full duplex, independent channels, refused
// messages, cancellation, peer death, and close, with no goroutine left over and
// no allocation in steady state.
//
//	func TestConformance(t *testing.T) {
//		fabrictest.Run(t, fabrictest.Harness{New: newRanks})
//	}
package fabrictest
