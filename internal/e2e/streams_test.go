package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/freeaddr"
	"thundercollective/internal/leaks"
	"thundercollective/internal/provider/stream"
	"thundercollective/internal/provider/stream/streamtest"
)

// halos are two machines, joined by an address each and by a cable for USB4 streams:
//
//	[halo0]──── TCP ────[halo1]
//	   └─0-1.3══USB4══0-3.1─┘
type halos struct {
	cable    *streamtest.Cable
	machines [2]*streamtest.Machine
	hostfile string
}

func newHalos(addrs [2]string, edges string) *halos {
	h := &halos{machines: [2]*streamtest.Machine{streamtest.NewMachine(), streamtest.NewMachine()}}
	h.cable = streamtest.Join(h.machines[0], "0-1.3", h.machines[1], "0-3.1")
	h.hostfile = fmt.Sprintf(`{"hosts": [{"name": "halo0", "addrs": [%q]}, {"name": "halo1", "addrs": [%q]}], "edges": [%s]}`, addrs[0], addrs[1], edges)
	return h
}

const oneStream = `["halo0/0-1.3", "halo1/0-3.1", "20"]`

func (h *halos) options(rank int) thunder.Options {
	return thunder.Options{
		Join:             thunder.Join{Rank: rank, Size: 2, Hostfile: h.hostfile, StartTimeout: 2 * time.Minute},
		Transport:        thunder.Transport{Fabric: "tcp"},
		Security:         thunder.Security{Token: []byte("secret")},
		HeartbeatTimeout: time.Minute, // like StartTimeout, whatever the load
	}
}

// init joins a rank whose USB4 streams are those of its machine.
func (h *halos) init(ctx context.Context, rank int) (*thunder.Comm, error) {
	return thunder.Init(stream.WithSystem(ctx, h.machines[rank]), h.options(rank))
}

func twoAddrs(t *testing.T) [2]string { return [2]string(freeaddr.Loopback(t, 2)) }

// rails are the rails of a rank: TCP, then USB4.
func twoRails(c *thunder.Comm) (tcp, usb4 thunder.Rail, err error) {
	rails := c.Rails()
	if len(rails) != 2 || rails[1].Device == "" || !strings.HasPrefix(rails[1].Device, "usb4 ") {
		return tcp, usb4, fmt.Errorf("rank %d has the rails %+v", c.Rank(), rails)
	}
	return rails[0], rails[1], nil
}

// reduceUntil runs all-reduces with exactly known results until rank 0 finds that
// something has come true; the ranks agree on that.
func reduceUntil(ctx context.Context, c *thunder.Comm, what string, is func(tcp, usb4 thunder.Rail) bool) error {
	const n = 1 << 19
	buf := make([]float32, n)
	for round := 0; ; round++ {
		for i := range buf {
			buf[i] = float32((c.Rank() + 1) * (i%1000 + round%7))
		}
		done := make([]int32, 1)
		if c.Rank() == 0 {
			tcp, usb4, err := twoRails(c)
			if err != nil {
				return err
			}
			if is(tcp, usb4) {
				done[0] = 1
			}
		}
		if err := thunder.AllReduce(ctx, c, buf, thunder.Sum); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		for i := range buf {
			if want := float32(3 * (i%1000 + round%7)); buf[i] != want {
				return fmt.Errorf("%s: element %d is %v, not %v", what, i, buf[i], want)
			}
		}
		if err := thunder.AllReduce(ctx, c, done, thunder.Max); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if done[0] == 1 {
			return nil
		}
	}
}

// moved says of a rail that it is up and has sent more than before.
func moved(c *thunder.Comm, rail int) func(tcp, usb4 thunder.Rail) bool {
	before := c.Rails()[rail].Sent
	return func(tcp, usb4 thunder.Rail) bool {
		r := []thunder.Rail{tcp, usb4}[rail]
		return r.Up && r.Sent > before
	}
}

// TestStreamRails: a stream cable declared in the hostfile carries its part beside TCP;
// unplugged, TCP carries on, and plugged in again it is used again. Every result is
// exact.
func TestStreamRails(t *testing.T) {
	leaks.Check(t)
	h := newHalos(twoAddrs(t), oneStream)
	each(t, 2, func(r int) error {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		c, err := h.init(ctx, r)
		if err != nil {
			return err
		}
		defer c.Close()
		if err := everyOperation(ctx, c, 3); err != nil {
			return err
		}
		for rail := range 2 {
			if err := reduceUntil(ctx, c, "both rails", moved(c, rail)); err != nil {
				return err
			}
		}
		if r == 0 {
			h.cable.Unplug()
		}
		if err := reduceUntil(ctx, c, "unplugged", func(_, usb4 thunder.Rail) bool { return !usb4.Up }); err != nil {
			return err
		}
		if err := reduceUntil(ctx, c, "unplugged", moved(c, 0)); err != nil {
			return err
		}
		if r == 0 {
			h.cable.Plug()
		}
		if err := reduceUntil(ctx, c, "plugged in again", moved(c, 1)); err != nil {
			return err
		}
		return everyOperation(ctx, c, 1000)
	})
	for r, m := range h.machines {
		if left := m.Left(); len(left) > 0 {
			t.Errorf("halo%d has left in its configfs: %q", r, left)
		}
	}
}

// TestStreamErrors: what was declared and cannot be is named.
func TestStreamErrors(t *testing.T) {
	for _, tt := range []struct {
		name, edges string
		do          func(h *halos)
		want        []string // of rank 0's error
	}{
		{"no driver", oneStream, func(h *halos) { h.machines[0].Unload() },
			[]string{"halo0/0-1.3=halo1/0-3.1", "/sys/kernel/config/thunderbolt/stream/0-1.3", "modprobe thunderbolt_stream"}},
		{"no such service", `["halo0/0-7.3", "halo1/0-3.1"]`, func(*halos) {},
			[]string{"halo0/0-7.3=halo1/0-3.1", "/sys/kernel/config/thunderbolt/stream/0-7.3", "plugged in"}},
		{"one end only", `["halo0/0-1.3", "halo1"]`, func(*halos) {}, []string{"halo0/0-1.3", "both ends"}},
		{"no service", `["halo0/eth0", "halo1/0-3.1"]`, func(*halos) {}, []string{`"eth0"`, "0-1.3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHalos(twoAddrs(t), tt.edges)
			tt.do(h)
			c, err := h.init(t.Context(), 0)
			if err == nil {
				c.Close()
			}
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q in it", err, want)
				}
			}
		})
	}
}

// TestStreamAlone: streams between ranks that the edges do not join otherwise.
func TestStreamAlone(t *testing.T) {
	addrs := freeaddr.Loopback(t, 3)
	_, err := thunder.Init(t.Context(), thunder.Options{
		Join: thunder.Join{Rank: 1, Size: 3, Addrs: addrs, Edges: "0-1,1-2,0/0-1.3=2/0-3.1"},
	})
	for _, want := range []string{"rank 0", "rank 2", "0-1.3", "edge 0-2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}
