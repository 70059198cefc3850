package local

import (
	"sync"
	"syscall"
)

// A waiter reaps ranks, roughly in the order in which they died.
type waiter struct{}

func newWaiter(int) (*waiter, error) { return &waiter{}, nil }

// prepare sets up r's process attributes.
func (*waiter) prepare(r *rank) {
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func (*waiter) started(*rank) {}

// wait reaps ranks and sends them to exits. It returns when all are reaped.
func (*waiter) wait(ranks []*rank, exits chan<- *rank) {
	var all sync.WaitGroup
	for _, r := range ranks {
		all.Go(func() {
			r.cmd.Wait()
			exits <- r
		})
	}
	all.Wait()
}
