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
	// maxAtDoor is how many connections may be in the handshake at once, and with
	// it how many goroutines strangers can cause.
	maxAtDoor = 256
	// doorPatience is how long a connection at a full door is left alone by others
	// of its source.
	doorPatience = 100 * time.Millisecond
	// A source whose connections fail may have failBurst of them at once and
	// failRate a second after that; what comes above it is turned away unheard.
	failBurst = 64
	failRate  = 250
	// maxSources bounds the sources that are remembered, sweepEvery how often those
	// in good standing are forgotten.
	maxSources = 1024
	sweepEvery = time.Second
	// noteEvery is how often refused connections are logged.
	noteEvery = 5 * time.Second
)

// A door stands between the listeners and the fabric: it keeps the connections that
// are in the handshake, and what there is to know about those that failed.
//
// Nothing that a stranger does costs more memory than its place here. Honest ranks
// may share an address with a stranger; so a source that fails is slowed down, never
// shut out, and ranks that are turned away come back soon (see dialStream).
type door struct {
	mu      sync.Mutex
	guests  []*guest // oldest first
	count   int      // those that have yet to prove themselves
	sources map[netip.Addr]*source
	swept   time.Time
	closed  bool

	failed int    // connections sent away
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
	atDoor int     // unproved guests
	credit float64 // failures that it may still have
	at     time.Time
}

// refill adds what the source has earned since.
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

// enter gives a connection its place; nil if there is none for it.
func (d *door) enter(c *net.TCPConn, now time.Time) *guest {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := d.source(sourceOf(c.RemoteAddr()), now)
	from.refill(now)
	if d.closed || from.credit < 1 || !d.room(from, now) {
		d.failed++
		return nil
	}
	g := &guest{conn: c, from: from, since: now}
	d.guests = append(d.guests, g)
	from.atDoor++
	d.count++
	return g
}

// room sees to it that there is a place. A full door is cleared at the expense of
// whichever source has the most places, its oldest connection first; connections
// of one source get a moment before they give way to each other.
func (d *door) room(from *source, now time.Time) bool {
	if d.count < maxAtDoor {
		return true
	}
	var oldest *guest // of the source with the most places
	for _, g := range d.guests {
		if !g.proved && (oldest == nil || g.from.atDoor > oldest.from.atDoor) {
			oldest = g
		}
	}
	if oldest.from == from && now.Sub(oldest.since) < doorPatience {
		return false
	}
	oldest.conn.Close() // its handshake fails
	d.remove(oldest)
	return true
}

// source returns what is known of one. Where there are too many, newcomers share one.
func (d *door) source(key netip.Addr, now time.Time) *source {
	if s := d.sources[key]; s != nil {
		return s
	}
	if d.sources == nil {
		d.sources = map[netip.Addr]*source{}
	}
	if len(d.sources) >= maxSources && now.Sub(d.swept) >= sweepEvery {
		d.swept = now
		for k, s := range d.sources {
			if s.refill(now); s.atDoor == 0 && s.credit == failBurst {
				delete(d.sources, k)
			}
		}
	}
	if len(d.sources) >= maxSources {
		if key = (netip.Addr{}); d.sources[key] != nil {
			return d.sources[key]
		}
	}
	s := &source{credit: failBurst, at: now}
	d.sources[key] = s
	return s
}

// remove takes a guest off the list.
func (d *door) remove(g *guest) {
	i := slices.Index(d.guests, g)
	if i < 0 {
		return // it had to give way
	}
	d.guests = slices.Delete(d.guests, i, i+1)
	if !g.proved {
		g.from.atDoor--
		d.count--
	}
}

// proved notes that a guest knows the token: it takes no stranger's place any more.
func (d *door) proved(g *guest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.guests, g) {
		g.proved = true
		g.from.atDoor--
		d.count--
	}
}

// leave ends a guest's stay, well or not. Shutting the door does not concern its
// connection any more.
func (d *door) leave(g *guest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(g)
}

// refuse counts a connection that was sent away.
func (d *door) refuse(g *guest, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g.from.credit--
	if errors.Is(err, handshake.ErrNoHello) {
		return // ranks look like that whether a silent one's machine still answers
	}
	d.failed++
	// That a token differs is worth more than the broken connections that come
	// with it.
	var auth *handshake.AuthError
	if isAuth := errors.As(err, &auth); isAuth || !d.auth {
		d.auth = isAuth
		d.last = fmt.Sprintf("from %s: %v", g.conn.RemoteAddr(), err)
	}
}

// log tells of refused connections, once in a while.
func (d *door) log(l *slog.Logger, now time.Time) {
	d.mu.Lock()
	n, last := d.failed-d.since, d.last
	if n == 0 || now.Sub(d.logged) < noteEvery {
		d.mu.Unlock()
		return
	}
	d.logged, d.since = now, d.failed
	d.mu.Unlock()
	l.Warn("connections refused", "count", n, "last", last)
}

// troubles describes the refused connections, if there were any.
func (d *door) troubles() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.failed == 0:
		return ""
	case d.last == "":
		return fmt.Sprintf(" (%d refused)", d.failed)
	}
	return fmt.Sprintf(" (%d refused, the last %s)", d.failed, d.last)
}

// shut ends all handshakes.
func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, g := range d.guests {
		g.conn.Close()
	}
}
