//go:build !unix

package thunder

// dumpOnSignal has no signal to wait for here.
func (j *job) dumpOnSignal() {}
