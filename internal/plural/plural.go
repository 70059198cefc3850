// Package plural writes numbers of things, with the noun in the right number.
package plural

import "strconv"

// Count returns a number and its noun: "1 cable", "2 cables".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
