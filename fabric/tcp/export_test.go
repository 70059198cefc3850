package tcp

// Kill ends the fabric as the death of its process would: every connection is
// reset.
func (f *Fabric) Kill() {
	f.mu.Lock()
	for _, p := range f.links {
		if l := p.get(); l != nil {
			for _, s := range l.streams {
				s.conn.SetLinger(0)
			}
		}
	}
	f.mu.Unlock()
	f.Close()
}
