package rails

// Kill ends the fabric as if its process had died: every connection is reset, without
// a goodbye.
func (f *Fabric) Kill() {
	for _, l := range f.links.All() {
		l.mu.Lock()
		l.opener.finish()
		l.dropAll(errDropped)
		l.mu.Unlock()
	}
	f.Close()
}

// Cut breaks the streams to a peer on one rail.
func (f *Fabric) Cut(peer, rail int) {
	for _, l := range f.links.All() {
		l.mu.Lock()
		for _, s := range l.streams.list {
			if s != nil && l.peer == peer && s.rail == f.rails[peer][rail] {
				abort(s.conn)
			}
		}
		l.mu.Unlock()
	}
}
