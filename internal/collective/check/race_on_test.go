//go:build race

package check

// raceEnabled: the proof has no concurrency to look for races in, so under the
// race detector it runs on fewer sizes.
const raceEnabled = true
