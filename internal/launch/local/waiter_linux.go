package local

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A waiter reaps ranks in the order in which they died. That order decides whose exit code
// the job reports: ranks that lose a peer fail within a millisecond of it, and waiting
// threads are not woken in order. An epoll set of process descriptors is in order: it
// queues them as they become ready.
type waiter struct {
	epoll     int
	fds       []int // process descriptor of each prepared rank; -1 if the kernel has none
	queued    int   // ranks in the epoll set
	unordered []*rank
}

func newWaiter(ranks int) (*waiter, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &waiter{epoll: ep, fds: make([]int, ranks)}, nil
}

// prepare sets up r's process attributes.
func (w *waiter) prepare(r *rank) {
	w.fds[r.index] = -1
	r.cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:   true,
		Pdeathsig: syscall.SIGKILL,
		PidFD:     &w.fds[r.index],
	}
}

// started starts to watch r. If the kernel has no process descriptors, a goroutine for each
// rank waits instead.
func (w *waiter) started(r *rank) {
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(r.index)}
	fd := w.fds[r.index]
	if fd >= 0 && unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &ev) == nil {
		w.queued++
		return
	}
	w.unordered = append(w.unordered, r)
}

// wait reaps ranks and sends them to exits. It returns when all are reaped.
func (w *waiter) wait(ranks []*rank, exits chan<- *rank) {
	defer unix.Close(w.epoll)
	var others sync.WaitGroup
	defer others.Wait()
	for _, r := range w.unordered {
		others.Go(func() {
			r.cmd.Wait()
			exits <- r
		})
	}
	events := make([]unix.EpollEvent, 16)
	for w.queued > 0 {
		n, err := unix.EpollWait(w.epoll, events, -1)
		if err != nil && err != unix.EINTR {
			return // cannot happen with our own descriptor
		}
		for _, ev := range events[:max(n, 0)] {
			r, fd := ranks[ev.Fd], w.fds[ev.Fd]
			r.cmd.Wait()
			unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, fd, nil)
			unix.Close(fd)
			exits <- r
			w.queued--
		}
	}
}
