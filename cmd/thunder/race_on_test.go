//go:build race

package main

// raceDetector says that every byte of memory has a shadow.
const raceDetector = true
