package tcp

import (
	"errors"
	"net"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"thundercollective/internal/publish"
)

// newSocket makes the socket of a data stream out of a connection, which it takes
// over, or leaves alone if it fails.
func newSocket(c *net.TCPConn) (socket, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	if e := raw.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }); e != nil || err != nil {
		return nil, errors.Join(e, err)
	}
	if withinMachine(c) {
		// Reno is in every kernel and open to everyone; one that will not have it
		// goes on with its own.
		_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
	}
	s := &gatedSocket{fd: fd}
	if err := errors.Join(s.in.open(fd, unix.EPOLLIN|unix.EPOLLRDHUP), s.out.open(fd, unix.EPOLLOUT)); err != nil {
		s.Close()
		return nil, err
	}
	c.Close() // the descriptor lives on in ours, unknown to the runtime's poller
	return s, nil
}

// withinMachine reports whether a connection leads back to this machine. Nothing on the way
// can be congested there, and what the machine uses for real networks may cost: BBR
// paces by timers, which took an eighth of the time of long messages.
func withinMachine(c *net.TCPConn) bool {
	from, ok1 := c.LocalAddr().(*net.TCPAddr)
	to, ok2 := c.RemoteAddr().(*net.TCPAddr)
	return ok1 && ok2 && (to.IP.IsLoopback() || to.IP.Equal(from.IP))
}

// A gatedSocket is one that the runtime's poller sees only while somebody waits.
// Sockets that it sees all the time wake its thread with every message, also when
// the reader is polling and has it already; that costs more than the message.
type gatedSocket struct {
	fd      int
	in, out gate

	shut atomic.Bool
}

// enter reports whether a call may be made in a direction, until leave. Calls that do not
// wait bypass the gates, which cost as much as all our other work on a short message. Each
// direction has one user at a time, which sets busy first, so that the descriptor is not
// closed during the call.
func (s *gatedSocket) enter(g *gate) bool {
	g.busy.Store(1)
	if s.shut.Load() {
		g.leave()
		return false
	}
	return true
}

// A gate is what one direction waits at: an epoll instance with the socket in it,
// armed for one event when somebody is about to wait, which the runtime's poller
// watches in its turn.
type gate struct {
	file   *os.File // the epoll instance
	raw    syscall.RawConn
	epoll  int
	fd     int // the socket
	events uint32
	armed  []int32       // sockets of which an event was asked for and has not been taken
	also   *backlog      // whose solos' sockets are waited for, too; may be nil
	busy   atomic.Uint64 // 1 during a call that passes by

	try  func(fd uintptr) bool // of the call under way
	next bool                  // it was made once already, and is to wait first
	err  error                 // of arming
	came [4]unix.EpollEvent
	step func(uintptr) bool // the method, bound once
}

// leave ends what gatedSocket.enter began.
func (g *gate) leave() { publish.Add(&g.busy, ^uint64(0)) }

func (g *gate) open(fd int, events uint32) error {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(ep, true); err != nil { // what makes os hand it to the poller
		unix.Close(ep)
		return os.NewSyscallError("fcntl", err)
	}
	g.file = os.NewFile(uintptr(ep), "epoll")
	g.epoll, g.fd, g.events = ep, fd, events|unix.EPOLLONESHOT
	g.step = g.attempt
	g.raw, err = g.file.SyscallConn()
	return err
}

// pass runs a call through the gate; one that was made already waits first.
func (g *gate) pass(try func(fd uintptr) bool, made bool) error {
	g.try, g.next = try, made
	err := g.raw.Read(g.step)
	if err == nil {
		err, g.err = g.err, nil
	}
	return err
}

// attempt is called by the runtime: at once, and whenever the gate opened.
func (g *gate) attempt(uintptr) bool {
	g.drain()
	if !g.next && g.try(uintptr(g.fd)) {
		return true
	}
	g.next = false
	events := g.events
	if g.also != nil && g.also.waiting.Load() > 0 {
		for _, s := range *g.also.solos.Load() {
			switch {
			case !s.waiting.Load():
			case s.sock.fd == g.fd:
				events |= unix.EPOLLOUT
			default:
				g.arm(s.sock.fd, unix.EPOLLOUT|unix.EPOLLONESHOT) // fails if it is being closed
			}
		}
	}
	if err := g.arm(g.fd, events); err != nil {
		g.err = os.NewSyscallError("epoll_ctl", err)
		return true
	}
	return false
}

// drain takes the events that have come. It must be done before a socket is armed
// again: the kernel does not tell of one that is there already and was not taken, and
// that of an earlier wait which ended for another reason may have gone unheard. One
// that comes later opens the gate for nothing, once.
func (g *gate) drain() {
	for len(g.armed) > 0 {
		n, err := unix.EpollWait(g.epoll, g.came[:], 0)
		if err == unix.EINTR {
			continue
		}
		for _, e := range g.came[:max(n, 0)] {
			if i := slices.Index(g.armed, e.Fd); i >= 0 {
				g.armed = slices.Delete(g.armed, i, i+1)
			}
		}
		if n < len(g.came) {
			break
		}
	}
}

// arm lets the next event of a socket open the gate, at once if it is there.
func (g *gate) arm(fd int, events uint32) error {
	e := unix.EpollEvent{Events: events, Fd: int32(fd)}
	if !slices.Contains(g.armed, e.Fd) {
		g.armed = append(g.armed, e.Fd)
	}
	err := unix.EpollCtl(g.epoll, unix.EPOLL_CTL_MOD, fd, &e)
	if err == unix.ENOENT {
		err = unix.EpollCtl(g.epoll, unix.EPOLL_CTL_ADD, fd, &e)
	}
	return err
}

// close ends waiting and waits for the call under way to leave.
func (g *gate) close() {
	if g.file != nil {
		g.file.Close()
	}
}

func (s *gatedSocket) read(try func(fd uintptr) bool) error  { return s.through(&s.in, try) }
func (s *gatedSocket) write(try func(fd uintptr) bool) error { return s.through(&s.out, try) }
func (s *gatedSocket) interruptRead(stop bool)               { s.in.file.SetReadDeadline(deadline(stop)) }
func (s *gatedSocket) interruptWrite(stop bool)              { s.out.file.SetReadDeadline(deadline(stop)) }

// through makes a call, and waits at the gate only if it has to.
func (s *gatedSocket) through(g *gate, try func(fd uintptr) bool) error {
	made := s.enter(g)
	if made {
		done := try(uintptr(s.fd))
		g.leave()
		if done {
			return nil
		}
	}
	return g.pass(try, made)
}

// Close implements socket. The descriptor goes last, when no call can use it.
func (s *gatedSocket) Close() error {
	s.shut.Store(true)
	s.in.close()
	s.out.close()
	for s.in.busy.Load()+s.out.busy.Load() > 0 { // none of them waits for anything
		runtime.Gosched()
	}
	return os.NewSyscallError("close", unix.Close(s.fd))
}
