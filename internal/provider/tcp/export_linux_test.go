package tcp

func (s *gatedSocket) control(f func(fd uintptr)) {
	s.in.raw.Control(func(uintptr) { f(uintptr(s.fd)) })
}
