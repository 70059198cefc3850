// Package plural counts things in sentences.
package plural

import "strconv"

// Count is a number with its noun: "1 cable", "2 cables".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
