package e2e_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/freeaddr"
	"thundercollective/internal/leaks"
	"thundercollective/internal/provider/tcp"
	"thundercollective/internal/rendezvous/handshake"
)

// TestIncompatibleSettings starts ranks with incompatible settings. Both return the same error
// long before their start timeout, also the one that only waits for the other to connect.
func TestIncompatibleSettings(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(o *thunder.Options, rank int)
		want string
	}{
		{"checksum at 0", func(o *thunder.Options, r int) { o.Transport.Fabric, o.Transport.Checksum = "tcp", r == 0 }, "rank 0 was started with checksums, rank 1 without"},
		{"checksum at 1", func(o *thunder.Options, r int) { o.Transport.Fabric, o.Transport.Checksum = "tcp", r == 1 }, "rank 1 was started with checksums, rank 0 without"},
		{"tcp and auto", func(o *thunder.Options, r int) { o.Transport.Fabric = []string{"tcp", "auto"}[r] }, "rank 0 uses TCP, rank 1 uses shared memory"},
		{"shm and tcp", func(o *thunder.Options, r int) { o.Transport.Fabric = []string{"shm", "tcp"}[r] }, "rank 0 uses shared memory, rank 1 uses TCP"},
		{"calibration at 0", func(o *thunder.Options, r int) { o.Tuning.Calibrate = r == 0 }, "rank 0 was started with calibration, rank 1 without"},
		{"calibration at 1", func(o *thunder.Options, r int) { o.Transport.Fabric, o.Tuning.Calibrate = "tcp", r == 1 }, "rank 1 was started with calibration, rank 0 without"},
		{"size", func(o *thunder.Options, r int) {
			if r == 1 {
				o.Join.Size, o.Join.Addrs = 3, append(o.Join.Addrs[:2:2], "127.0.0.1:1")
			}
		}, "rank 0 was started with world size 2, rank 1 with 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			leaks.Check(t)
			addrs := freeaddr.Loopback(t, 2)
			each(t, 2, func(r int) error {
				o := thunder.Options{Join: thunder.Join{Rank: r, Size: 2, Addrs: addrs}, Security: thunder.Security{Token: []byte("secret")}}
				tt.set(&o, r)
				c, err := thunder.Init(t.Context(), o)
				if err == nil {
					c.Close()
					return errors.New("it starts")
				}
				differs, ok := errors.AsType[*thunder.SettingsError](err)
				if !ok || !strings.Contains(err.Error(), tt.want) || !strings.Contains(differs.Reason, tt.want) {
					return fmt.Errorf("got %v, want a *SettingsError with %q", err, tt.want)
				}
				return nil
			})
		})
	}
}

// TestSameFabricOtherName has ranks name the same thing in two ways.
func TestSameFabricOtherName(t *testing.T) {
	addrs := freeaddr.Loopback(t, 2)
	meet(t, thunder.Options{Join: thunder.Join{Rank: 0, Size: 2, Addrs: addrs}, Transport: thunder.Transport{Fabric: "shm"}}, thunder.Options{Join: thunder.Join{Rank: 1, Size: 2, Addrs: addrs}})
}

// TestStrangersWhileMeeting has strangers, and ranks that are not those of this job, knock
// while rank 0 waits for rank 1, and one that differs from rank 1 once it is there: none
// of them ends the job.
func TestStrangersWhileMeeting(t *testing.T) {
	addrs := freeaddr.Loopback(t, 2)
	hello := handshake.Hello{Purpose: handshake.PurposeLink, From: 1, Size: 2, Streams: 1}
	knock := func(h handshake.Hello, token string) error {
		var c net.Conn
		for c == nil { // rank 0 may have yet to listen
			c, _ = net.Dial("tcp", addrs[0])
		}
		defer c.Close()
		err := handshake.Dial(c, h, []byte(token))
		if err == nil {
			return errors.New("a stranger was let in")
		}
		return nil
	}
	otherwise := func(change func(h *handshake.Hello)) handshake.Hello {
		h := hello
		change(&h)
		return h
	}
	checks := handshake.Hello{Purpose: handshake.PurposeLink, From: 1, Size: 2, Streams: 1, Settings: tcp.ChecksumSetting}
	comms := make([]*thunder.Comm, 2)
	each(t, 2, func(r int) (err error) {
		if r == 1 {
			for _, s := range []struct {
				hello handshake.Hello
				token string
			}{
				{checks, "guess"},
				{otherwise(func(h *handshake.Hello) { h.Generation = 7 }), "secret"},
				{otherwise(func(h *handshake.Hello) { h.Purpose = handshake.PurposeJoin }), "secret"},
				{otherwise(func(h *handshake.Hello) { h.From, h.Size = 2, 3 }), "secret"},
			} {
				if err := knock(s.hello, s.token); err != nil {
					return err
				}
			}
		}
		comms[r], err = thunder.Init(t.Context(), thunder.Options{Join: thunder.Join{Rank: r, Size: 2, Addrs: addrs}, Security: thunder.Security{Token: []byte("secret")}, Transport: thunder.Transport{Fabric: "tcp"}})
		return err
	})
	if t.Failed() {
		t.FailNow()
	}
	closeAtEnd(t, comms)
	if err := knock(checks, "secret"); err != nil {
		t.Error(err)
	}
	each(t, 2, func(r int) error { return everyOperation(t.Context(), comms[r], 3) })
}

// TestOneIncompatibleRank has rank 1 of three differ: rank 2, which is connected to rank 0
// and looks for rank 1 when that has long ended, learns it from rank 0.
func TestOneIncompatibleRank(t *testing.T) {
	leaks.Check(t)
	addrs := freeaddr.Loopback(t, 3)
	way, met := watched(t, addrs[0])
	each(t, 3, func(r int) error {
		o := thunder.Options{Join: thunder.Join{Rank: r, Size: 3, Addrs: slices.Clone(addrs)}, Security: thunder.Security{Token: []byte("secret")}, Transport: thunder.Transport{Fabric: "tcp", Checksum: r == 1}}
		switch r {
		case 1:
			<-met
		case 2:
			o.Join.Addrs[0], o.Join.Addrs[1] = way, "127.0.0.1:1" // where nobody listens
		}
		c, err := thunder.Init(t.Context(), o)
		if err == nil {
			c.Close()
			return errors.New("it starts")
		}
		if want := "rank 1 was started with checksums, rank 0 without"; !strings.Contains(err.Error(), want) {
			return fmt.Errorf("got %v, want %q", err, want)
		}
		abort, ok := errors.AsType[*thunder.AbortError](err)
		if told := ok && abort.Rank == 0; told != (r == 2) {
			return fmt.Errorf("got %T: %v", err, err)
		}
		return nil
	})
}

// watched is a way to an address on which it can be seen that two ranks have met: met is
// closed when the second message of a handshake has come back.
func watched(t *testing.T, to string) (addr string, met <-chan struct{}) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan struct{})
	var all sync.WaitGroup
	t.Cleanup(func() {
		ln.Close()
		all.Wait()
	})
	pass := func(a net.Conn, once func()) {
		defer a.Close()
		b, err := net.Dial("tcp", to)
		if err != nil {
			return // it has yet to listen, and will be tried again
		}
		defer b.Close()
		all.Go(func() { io.Copy(b, a); b.Close() })
		buf := make([]byte, 4096)
		for reads := 1; ; reads++ {
			n, err := b.Read(buf)
			if err != nil {
				return
			}
			if _, err := a.Write(buf[:n]); err != nil {
				return
			}
			if reads == 2 {
				once()
			}
		}
	}
	all.Go(func() {
		once := sync.OnceFunc(func() { close(seen) })
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() { pass(c, once) })
		}
	})
	return ln.Addr().String(), seen
}
