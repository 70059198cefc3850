package rails

// GiveUp has links to a peer that is known to be lost close without waiting until what was
// sent has arrived.
func (f *Fabric) GiveUp(peer int) {
	for _, l := range f.links.All() {
		if l.peer == peer {
			l.mu.Lock()
			l.givenUp = true
			l.out.wake.Broadcast() // for drain
			l.mu.Unlock()
		}
	}
}
