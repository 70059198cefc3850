package rendezvous

import (
	"bytes"
	"errors"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestFrameLimit(t *testing.T) {
	if _, err := encodeFrame(frameStopped, stopped{strings.Repeat("x", maxFrame)}); err == nil {
		t.Error("a frame over the limit was encoded")
	}
	_, _, err := readFrame(strings.NewReader("\x01\x00\x01\x00\x01"))
	if _, ok := errors.AsType[*frameError](err); !ok {
		t.Errorf("a header over the limit: %v", err)
	}
	// The longest messages of a coordinator fit.
	all := MissingError{Size: MaxSize, AuthFailures: 1 << 40}
	for r := range MaxSize {
		all.Missing = append(all.Missing, r)
	}
	for range maxListedTrouble {
		all.AuthFrom = append(all.AuthFrom, strings.Repeat("f", 100))
		all.Refusals = append(all.Refusals, strings.Repeat("r", maxText))
	}
	if _, err := encodeFrame(frameMissing, &all); err != nil {
		t.Error(err)
	}
	reg := registration{Peer: Peer{Host: strings.Repeat("h", 255), Machine: listed(0)}}
	for range MaxRails {
		reg.Addrs = append(reg.Addrs, strings.Repeat("a", 253)+":65535")
	}
	if err := reg.check(); err != nil {
		t.Error(err)
	}
	if _, err := encodeFrame(frameRegister, reg); err != nil {
		t.Error(err)
	}
}

func TestMissingErrorText(t *testing.T) {
	many := make([]int, 40)
	tests := []struct {
		err  MissingError
		want string
	}{
		{MissingError{Missing: []int{2}, Size: 4, Waited: 250 * time.Millisecond}, "rank 2 of 4 did not arrive within 0.25 s"},
		{MissingError{Missing: []int{1, 2, 3}, Size: 4, Waited: time.Minute + 3*time.Millisecond}, "ranks 1, 2 and 3 of 4 did not arrive within 60 s"},
		{MissingError{Missing: many, Size: 64, Waited: time.Second}, "ranks " + strings.Repeat("0, ", 15) + "0 and 24 more of 64 did not arrive within 1 s"},
		{MissingError{Missing: []int{1}, Size: 2, Waited: time.Second, AuthFailures: 2, AuthFrom: []string{"a:1", "b:2"}, Refusals: []string{"no"}},
			"rank 1 of 2 did not arrive within 1 s; 2 connections failed authentication from a:1, b:2; no"},
	}
	for _, tt := range tests {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestRezone(t *testing.T) {
	peers := func() []Peer {
		return []Peer{{"a", []string{"10.0.0.1:1", "[fe80::1%en5]:1"}, listed(0)}, {"b", []string{"[fd00::1]:1", "h:1"}, listed(1)}}
	}
	got := peers()
	rezone(got, "")
	if !reflect.DeepEqual(got, peers()) {
		t.Errorf("without a zone: %v", got)
	}
	rezone(got, "eth0")
	want := peers()
	want[0].Addrs[1] = "[fe80::1%eth0]:1"
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestPendingEvictsOldest(t *testing.T) {
	p := newPending(2)
	closed := func(c net.Conn) bool {
		c.SetReadDeadline(time.Now().Add(-time.Second))
		_, err := c.Read(make([]byte, 1))
		ne, ok := errors.AsType[net.Error](err)
		return !ok || !ne.Timeout()
	}
	var theirs []net.Conn
	var removes []func()
	for range 4 {
		c, s := net.Pipe()
		theirs = append(theirs, c)
		removes = append(removes, p.add(s))
		if len(removes) == 2 {
			removes[1]() // it has proved who it is
			removes[1]()
		}
	}
	for i, want := range []bool{true, false, false, false} {
		if got := closed(theirs[i]); got != want {
			t.Errorf("connection %d closed: %v, want %v", i, got, want)
		}
	}
	p.close()
	_, late := net.Pipe()
	p.add(late)
	for i, c := range []net.Conn{theirs[2], theirs[3], late} {
		if !closed(c) {
			t.Errorf("connection %d survived close", i)
		}
	}
	if closed(theirs[1]) {
		t.Error("close took a connection that was no longer pending")
	}
}

// FuzzFrame reads arbitrary bytes as either end would.
func FuzzFrame(f *testing.F) {
	for _, v := range []struct {
		kind uint8
		body any
	}{
		{frameRegister, registration{Peer: Peer{"h", []string{"[fe80::1%en5]:7000"}, listed(0)}, Patience: time.Minute}},
		{framePeer, Peer{"h", []string{"10.0.0.1:7000"}, listed(0)}},
		{frameMissing, MissingError{Missing: []int{2, 3}, Size: 4}},
		{frameStopped, stopped{"interrupted"}},
		{frameRefused, refusal{1, "no"}},
	} {
		b, err := encodeFrame(v.kind, v.body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		kind, body, err := readFrame(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(body) > maxFrame {
			t.Fatalf("body of %d bytes", len(body))
		}
		var reg registration
		if kind == frameRegister && decodeFrame(body, &reg) == nil && reg.check() == nil {
			// What was accepted is accepted by the other ranks, too.
			b, err := encodeFrame(framePeer, reg.Peer)
			if err != nil {
				t.Fatalf("cannot pass on %+v: %v", reg, err)
			}
			var again registration
			if err := decodeFrame(b[frameHeader:], &again.Peer); err != nil {
				t.Fatal(err)
			}
			if err := again.check(); err != nil || !reflect.DeepEqual(again.Peer, reg.Peer) {
				t.Fatalf("%+v became %+v, %v", reg, again, err)
			}
		}
		j := joiner{JoinConfig: JoinConfig{Size: 2}}
		if peers, err := j.roster(bytes.NewReader(data)); err == nil && len(peers) != 2 {
			t.Fatalf("roster of %d", len(peers))
		} else if err != nil && err.Error() != clip(err.Error()) {
			t.Fatalf("unprintable error %q", err)
		}
	})
}
