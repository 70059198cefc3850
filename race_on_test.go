//go:build race

package thunder_test

// raceDetector says that every byte of memory has a shadow.
const raceDetector = true
