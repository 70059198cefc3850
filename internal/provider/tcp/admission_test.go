package tcp

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"thundercollective/internal/rendezvous/handshake"
)

// caller is a connection from an address, as far as an admission looks at it.
func caller(t *testing.T, from string) *net.TCPConn {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	d := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 0))}
	out, err := d.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Skipf("SKIPPED: cannot use %s here: %v", from, err)
	}
	in, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); out.Close() })
	return in.(*net.TCPConn)
}

func TestSourceOf(t *testing.T) {
	for a, b := range map[string]string{
		"10.1.2.3":            "10.1.2.3",
		"::ffff:10.1.2.3":     "10.1.2.3",
		"2001:db8:1:2:3:4::9": "2001:db8:1:2::",
		"fe80::1%eth0":        "fe80::%eth0",
	} {
		addr := netip.MustParseAddr(a)
		got := sourceOf(net.TCPAddrFromAddrPort(netip.AddrPortFrom(addr, 7)))
		if got != netip.MustParseAddr(b) {
			t.Errorf("%s is of source %s, want %s", a, got, b)
		}
	}
}

// TestFailuresAreRationed lets a source fail until it is turned away, and checks that
// it may try again later, and others all the time.
func TestFailuresAreRationed(t *testing.T) {
	var d admission
	now := time.Unix(1000, 0)
	bad, good := caller(t, "127.0.0.1"), caller(t, "127.0.0.2")
	for i := range failBurst {
		g := d.enter(bad, now)
		if g == nil {
			t.Fatalf("turned away after %d failures", i)
		}
		d.leave(g)
		d.refuse(g, errors.New("no rank"))
	}
	if d.enter(bad, now) != nil {
		t.Errorf("not turned away after %d failures", failBurst)
	}
	for range 2 * failBurst { // those that succeed are not rationed
		g := d.enter(good, now)
		if g == nil {
			t.Fatal("an innocent source is turned away")
		}
		d.proved(g)
		d.leave(g)
	}
	if g := d.enter(bad, now.Add(2*time.Second/failRate)); g == nil {
		t.Error("a source that failed is shut out")
	}
	if want := fmt.Sprintf("%d refused", failBurst+1); !strings.Contains(d.troubles(), want) {
		t.Errorf("troubles are %q, want %q", d.troubles(), want)
	}
}

// TestFullAdmission takes all places with silent connections of one source. Another source
// takes the place of the oldest at once, the same one only after a moment.
func TestFullAdmission(t *testing.T) {
	var d admission
	now := time.Unix(1000, 0)
	silent, other := caller(t, "127.0.0.1"), caller(t, "127.0.0.2")
	var guests []*guest
	for range maxHandshakes {
		guests = append(guests, d.enter(silent, now))
	}
	if d.enter(silent, now.Add(handshakePatience/2)) != nil {
		t.Error("a source pushes itself out")
	}
	g := d.enter(other, now)
	if g == nil || len(d.guests) != maxHandshakes || d.guests[0] != guests[1] {
		t.Fatalf("another source got %v; there are %d guests", g, len(d.guests))
	}
	d.leave(guests[0]) // as when its handshake fails
	if d.enter(silent, now.Add(2*handshakePatience)) == nil || d.guests[0] != guests[2] {
		t.Error("the same source does not get the place of its oldest")
	}
	for _, g := range d.guests {
		d.proved(g)
	}
	if d.count != 0 || d.enter(silent, now.Add(2*handshakePatience)) == nil {
		t.Errorf("ranks that have proved themselves take up %d places of strangers", d.count)
	}
}

// TestManySources checks that what is remembered of sources is bounded.
func TestManySources(t *testing.T) {
	var d admission
	now := time.Unix(1000, 0)
	at := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}) }
	for i := range 2 * maxSources {
		d.source(at(i), now).credit = 0
	}
	if len(d.sources) > maxSources+1 {
		t.Errorf("%d sources are remembered", len(d.sources))
	}
	d.source(at(5*maxSources), now.Add(time.Minute)) // all have served their time
	if len(d.sources) > 1 {
		t.Errorf("%d sources are remembered after a minute", len(d.sources))
	}
}

// TestLogOnce checks that strangers cannot fill the log.
func TestLogOnce(t *testing.T) {
	var d admission
	var lines strings.Builder
	l := slog.New(slog.NewTextHandler(&lines, nil))
	now := time.Unix(1000, 0)
	c := caller(t, "127.0.0.1")
	for i := range 50 {
		g := d.enter(c, now)
		d.leave(g)
		d.refuse(g, errors.New("no rank"))
		d.log(l, now.Add(time.Duration(i)*time.Millisecond))
	}
	for range 3 { // who only looks is not refused anything
		g := d.enter(c, now)
		d.leave(g)
		d.refuse(g, fmt.Errorf("handshake: %w", handshake.ErrNoHello))
	}
	d.log(l, now.Add(noteEvery+time.Second))
	if got := strings.Count(lines.String(), "\n"); got != 2 || !strings.Contains(lines.String(), "count=49") {
		t.Errorf("got %d lines:\n%s", got, lines.String())
	}
}
