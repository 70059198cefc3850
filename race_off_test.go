//go:build !race

package thunder_test

const raceDetector = false
