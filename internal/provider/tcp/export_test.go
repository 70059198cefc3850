package tcp

import "golang.org/x/sys/unix"

// Kill ends the fabric as the death of its process would: every connection is
// reset.
func (f *Fabric) Kill() {
	for _, p := range f.links.All() {
		if l := p.get(); l != nil {
			for _, s := range l.streams {
				s.sock.(controller).control(func(fd uintptr) {
					unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
				})
			}
		}
	}
	f.Close()
}

// A controller is a socket, any of them, that calls f with its descriptor.
type controller interface{ control(f func(fd uintptr)) }

func (s plainSocket) control(f func(fd uintptr)) { s.raw.Control(f) }
