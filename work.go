package thunder

// Work is an operation under way. Its buffers belong to it until it is done.
type Work struct {
	done chan struct{}
	err  error
}

// Wait returns when the operation is done.
func (w *Work) Wait() error {
	<-w.done
	return w.err
}

// Done is closed when the operation is done.
func (w *Work) Done() <-chan struct{} { return w.done }

// Err returns the operation's error; it is nil as long as it is under way.
func (w *Work) Err() error {
	select {
	case <-w.done:
		return w.err
	default:
		return nil
	}
}

func (w *Work) finish(err error) {
	w.err = err
	close(w.done)
}
