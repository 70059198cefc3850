package rails

import "fmt"

// Only sends new segments to a peer over one rail, which is how a single cable is
// measured: rail is its index in Config.Rails. A negative rail selects all of them
// again. While no stream on the rail is alive, the others are used as usual, so that a
// measurement never hangs; State tells whether the rail was lost in the meantime. What
// is already under way is not affected.
func (f *Fabric) Only(peer, rail int) error {
	if peer < 0 || peer >= len(f.rails) || len(f.rails[peer]) < 2 {
		return fmt.Errorf("rails: rank %d has only one rail", peer)
	}
	if rail >= len(f.rails[peer]) {
		return fmt.Errorf("rails: no rail %d to rank %d, which has %d rails", rail, peer, len(f.rails[peer]))
	}
	if rail < 0 {
		f.only[peer].Store(nil)
	} else {
		f.only[peer].Store(f.rails[peer][rail])
	}
	for _, l := range f.links.All() {
		if l.peer == peer {
			l.mu.Lock()
			l.streams.wakeAll()
			l.mu.Unlock()
		}
	}
	return nil
}

// chosen reports whether Fabric.Only allows the stream to carry segments.
func (s *stream) chosen() bool {
	only := s.l.streams.only()
	return only == nil || only == s.load
}
