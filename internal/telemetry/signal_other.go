//go:build !unix

package telemetry

// dumpOnSignal has no signal to wait for here.
func (t *Job) dumpOnSignal() {}
