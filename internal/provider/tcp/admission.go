package tcp

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"thundercollective/internal/rendezvous/handshake"
)

const (
	// maxHandshakes limits the connections that are in the handshake at once, and with
	// them the goroutines that strangers can cause.
	maxHandshakes = 256
	// handshakePatience is how long a connection keeps its place when others of its
	// source need one.
	handshakePatience = 100 * time.Millisecond
	// A source may have failBurst connections that fail at once, and failRate a second
	// after that; more than that are turned away without a handshake.
	failBurst = 64
	failRate  = 250
	// maxSources limits the sources that are remembered. Every sweepEvery, those in good
	// standing are forgotten.
	maxSources = 1024
	sweepEvery = time.Second
	// noteEvery is how often refused connections are logged.
	noteEvery = 5 * time.Second
)

// An admission decides which connections of a listener may start a handshake. It holds
// those that have, and remembers where failed ones came from.
//
// A stranger can cost no more memory than its place here. Ranks of the job may have the
// same address as a stranger, so a source that fails is slowed down, never shut out, and
// ranks that are turned away try again soon (see dialStream).
type admission struct {
	mu      sync.Mutex
	guests  []*guest // oldest first
	count   int      // those that have not proved themselves yet
	sources map[netip.Addr]*source
	swept   time.Time
	closed  bool

	failed int    // refused connections
	auth   bool   // last is about a token that differs
	last   string // the last of them, and why
	logged time.Time
	since  int // failures when it was last logged
}

// A guest is a connection in the handshake.
type guest struct {
	conn   *net.TCPConn
	from   *source
	since  time.Time
	proved bool // it knows the token
}

// A source is where connections come from: an address, or an IPv6 subnet.
type source struct {
	unproved int     // unproved guests
	credit   float64 // failures that it may still have
	at       time.Time
}

// refill adds the credit that the source has earned since.
func (s *source) refill(now time.Time) {
	s.credit = min(s.credit+now.Sub(s.at).Seconds()*failRate, failBurst)
	s.at = now
}

// sourceOf returns the key of a source.
func sourceOf(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	addr := tcp.AddrPort().Addr().Unmap()
	if addr.Is6() {
		if p, err := addr.WithZone("").Prefix(64); err == nil {
			return p.Addr().WithZone(addr.Zone())
		}
	}
	return addr
}

// enter gives a connection a place; nil if there is none for it.
func (a *admission) enter(c *net.TCPConn, now time.Time) *guest {
	a.mu.Lock()
	defer a.mu.Unlock()
	from := a.source(sourceOf(c.RemoteAddr()), now)
	from.refill(now)
	if a.closed || from.credit < 1 || !a.room(from, now) {
		a.failed++
		return nil
	}
	g := &guest{conn: c, from: from, since: now}
	a.guests = append(a.guests, g)
	from.unproved++
	a.count++
	return g
}

// room makes room for a connection, and reports whether there is any. If all places are
// taken, the source with the most of them loses its oldest connection; connections of one
// source keep their places for a moment before they give way to each other.
func (a *admission) room(from *source, now time.Time) bool {
	if a.count < maxHandshakes {
		return true
	}
	var oldest *guest // of the source with the most places
	for _, g := range a.guests {
		if !g.proved && (oldest == nil || g.from.unproved > oldest.from.unproved) {
			oldest = g
		}
	}
	if oldest.from == from && now.Sub(oldest.since) < handshakePatience {
		return false
	}
	oldest.conn.Close() // its handshake fails
	a.remove(oldest)
	return true
}

// source returns the record of a source. If there are too many, new ones share a record.
func (a *admission) source(key netip.Addr, now time.Time) *source {
	if s := a.sources[key]; s != nil {
		return s
	}
	if a.sources == nil {
		a.sources = map[netip.Addr]*source{}
	}
	if len(a.sources) >= maxSources && now.Sub(a.swept) >= sweepEvery {
		a.swept = now
		for k, s := range a.sources {
			if s.refill(now); s.unproved == 0 && s.credit == failBurst {
				delete(a.sources, k)
			}
		}
	}
	if len(a.sources) >= maxSources {
		if key = (netip.Addr{}); a.sources[key] != nil {
			return a.sources[key]
		}
	}
	s := &source{credit: failBurst, at: now}
	a.sources[key] = s
	return s
}

// remove takes a guest off the list.
func (a *admission) remove(g *guest) {
	i := slices.Index(a.guests, g)
	if i < 0 {
		return // it has lost its place
	}
	a.guests = slices.Delete(a.guests, i, i+1)
	if !g.proved {
		g.from.unproved--
		a.count--
	}
}

// proved notes that a guest knows the token: it no longer counts as a stranger.
func (a *admission) proved(g *guest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.Contains(a.guests, g) {
		g.proved = true
		g.from.unproved--
		a.count--
	}
}

// leave removes a guest whose handshake is over. shut no longer closes its connection.
func (a *admission) leave(g *guest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remove(g)
}

// refuse counts a connection that was refused.
func (a *admission) refuse(g *guest, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g.from.credit--
	if errors.Is(err, handshake.ErrNoHello) {
		return // ranks probe the machine of a silent rank like that
	}
	a.failed++
	// A wrong token explains more than the broken connections that come with it.
	var auth *handshake.AuthError
	if isAuth := errors.As(err, &auth); isAuth || !a.auth {
		a.auth = isAuth
		a.last = fmt.Sprintf("from %s: %v", g.conn.RemoteAddr(), err)
	}
}

// log logs refused connections, at most once in noteEvery.
func (a *admission) log(l *slog.Logger, now time.Time) {
	a.mu.Lock()
	n, last := a.failed-a.since, a.last
	if n == 0 || now.Sub(a.logged) < noteEvery {
		a.mu.Unlock()
		return
	}
	a.logged, a.since = now, a.failed
	a.mu.Unlock()
	about := []any{"count", n}
	if last != "" { // unknown if all were refused before their handshake
		about = append(about, "last", last)
	}
	l.Warn("connections refused", about...)
}

// troubles describes the refused connections, if there were any.
func (a *admission) troubles() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.failed == 0:
		return ""
	case a.last == "":
		return fmt.Sprintf(" (%d refused)", a.failed)
	}
	return fmt.Sprintf(" (%d refused, the last %s)", a.failed, a.last)
}

// shut ends all handshakes.
func (a *admission) shut() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, g := range a.guests {
		g.conn.Close()
	}
}
