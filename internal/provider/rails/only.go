package rails

import "fmt"

// Only has new segments to a peer go over one of its rails alone, which is how a
// single cable is measured: rail is its place in Config.Rails. A negative one lifts
// that. Where no stream on the rail is alive, the others carry on as always, so that
// a measurement never hangs; State says whether the rail was lost meanwhile. What is
// under way already is not called back.
func (f *Fabric) Only(peer, rail int) error {
	if peer < 0 || peer >= len(f.rails) || len(f.rails[peer]) < 2 {
		return fmt.Errorf("rails: there are not several rails to rank %d", peer)
	}
	if rail >= len(f.rails[peer]) {
		return fmt.Errorf("rails: there is no rail %d to rank %d, which has %d", rail, peer, len(f.rails[peer]))
	}
	if rail < 0 {
		f.only[peer].Store(nil)
	} else {
		f.only[peer].Store(f.rails[peer][rail])
	}
	for _, l := range f.all() {
		if l.peer == peer {
			l.mu.Lock()
			l.streams.wakeAll()
			l.mu.Unlock()
		}
	}
	return nil
}

// chosen reports whether the stream may carry segments, be it for the lack of another.
func (s *stream) chosen() bool {
	only := s.l.streams.only()
	return only == nil || only == s.load
}
