//go:build race

package e2e_test

// raceDetector says that every byte of memory has a shadow.
const raceDetector = true
