package rdma

import (
	"fmt"
	"slices"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/provider/rdma/internal/hca"
	"thundercollective/internal/provider/rdma/rdmatest"
)

func v4(a, b, c, d byte) gidText {
	return gidText{10: 0xff, 11: 0xff, 12: a, 13: b, 14: c, 15: d}
}

func rails(lim hca.Limits, gids ...gidText) []railOffer {
	var rs []railOffer
	for _, g := range gids {
		d := device{dev: fakeDevice{}, lim: lim, port: hca.Port{MTU: 1024}, gid: hca.GID{Addr: g}}
		rs = append(rs, d.offer())
	}
	return rs
}

type fakeDevice struct{ hca.Device }

func (fakeDevice) Name() string { return "fake" }

func TestPairRails(t *testing.T) {
	for _, tt := range []struct {
		name      string
		low, high []gidText
		n         int
		want      []railPair
	}{
		{"one each", []gidText{v4(10, 0, 0, 1)}, []gidText{v4(10, 0, 0, 2)}, 1, []railPair{{0, 0}}},
		{"cables in the same order", []gidText{v4(192, 168, 0, 1), v4(192, 168, 0, 5)}, []gidText{v4(192, 168, 0, 2), v4(192, 168, 0, 6)}, 2,
			[]railPair{{0, 0}, {1, 1}}},
		{"cables in another order", []gidText{v4(192, 168, 0, 1), v4(192, 168, 0, 5)}, []gidText{v4(192, 168, 0, 6), v4(192, 168, 0, 2)}, 2,
			[]railPair{{0, 1}, {1, 0}}},
		{"unrelated addresses keep the order", []gidText{v4(10, 0, 1, 1), v4(10, 1, 1, 1)}, []gidText{v4(10, 2, 1, 1), v4(10, 3, 1, 1)}, 2,
			[]railPair{{0, 0}, {1, 1}}},
		{"one of several that can meet", []gidText{v4(10, 0, 1, 1), v4(10, 0, 2, 1)}, []gidText{v4(10, 0, 3, 1), v4(10, 0, 2, 9)}, 1,
			[]railPair{{1, 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lim := rdmatest.RoCE().Limits
			if got := pairRails(rails(lim, tt.low...), rails(lim, tt.high...), tt.n); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestPlanFitsDevice checks that the queues of a plan are ones that the device
// has, and that pieces never cut an element.
func TestPlanFitsDevice(t *testing.T) {
	for _, lim := range []hca.Limits{rdmatest.RoCE().Limits, rdmatest.Thunderbolt().Limits} {
		for _, depth := range []int{64, 128, 4096} {
			for n := 1; n <= maxRails; n++ {
				t.Run(fmt.Sprintf("rc=%v,depth=%d,rails=%d", lim.RC, depth, n), func(t *testing.T) {
					lim.MaxQPWR = depth
					o := &offer{Rails: rails(lim, []gidText{v4(1, 1, 1, 1), v4(1, 1, 2, 1), v4(1, 1, 3, 1), v4(1, 1, 4, 1)}[:n]...)}
					p, err := newPlan(o, o)
					if err != nil {
						if depth < 100 && n > 1 {
							return // said so
						}
						t.Fatal(err)
					}
					for id := range 2 {
						shape, recv, send := p.queueSizes(id)
						if recv > depth || send > depth {
							t.Errorf("lane %d needs %d receives and %d sends", id, recv, send)
						}
						if shape.payload()%fabric.PieceAlign != 0 || shape.window < 1 {
							t.Errorf("lane %d: %+v", id, shape)
						}
						if !lim.RC && int64(shape.size) > lim.MaxMessage {
							t.Errorf("lane %d: slots of %d bytes", id, shape.size)
						}
						for _, k := range []int{0, 1, shape.payload()} {
							if s := p.sendSize(shape, k); lim.Frames(s) != lim.Frames(shape.size) || s < headerSize+k || s > shape.size {
								t.Errorf("lane %d: %d bytes of payload are sent as %d", id, k, s)
							}
						}
					}
				})
			}
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	lim := rdmatest.RoCE().Limits
	some := &offer{Rails: rails(lim, v4(1, 1, 1, 1))}
	if _, err := newPlan(some, &offer{}); err == nil {
		t.Error("a plan with no device at one end")
	}
	lim.MaxQPWR = 8
	if _, err := newPlan(some, &offer{Rails: rails(lim, v4(1, 1, 1, 1))}); err == nil {
		t.Error("a plan with queues of 8 entries")
	}
}

// TestPlanOfMixedEnds takes the weaker of two devices.
func TestPlanOfMixedEnds(t *testing.T) {
	p, err := newPlan(&offer{Rails: rails(rdmatest.RoCE().Limits, v4(1, 1, 1, 1))}, &offer{Rails: rails(rdmatest.Thunderbolt().Limits, v4(1, 1, 1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	if p.rc || p.frame != 4096 || p.sge != 1 {
		t.Errorf("got %+v", p)
	}
}

func TestPickGID(t *testing.T) {
	local := hca.GID{Index: 0, Addr: [16]byte{0: 0xfe, 1: 0x80}}
	mapped := func(i int, v1 bool) hca.GID { return hca.GID{Index: i, Addr: v4(10, 0, 0, 1), RoCEv1: v1} }
	for _, tt := range []struct {
		name  string
		gids  []hca.GID
		layer hca.LinkLayer
		index int
		want  int // -1: none
	}{
		{"mapped", []hca.GID{local, mapped(1, false)}, hca.Ethernet, 0, 1},
		{"never index 0", []hca.GID{mapped(0, false), mapped(3, false)}, hca.Ethernet, 0, 3},
		{"version 2 over version 1", []hca.GID{local, mapped(1, true), mapped(2, false), mapped(3, false)}, hca.Ethernet, 0, 2},
		{"version 1 if that is all", []hca.GID{local, mapped(1, true)}, hca.Ethernet, 0, 1},
		{"only local", []hca.GID{local, {Index: 1, Addr: local.Addr}}, hca.Ethernet, 0, -1},
		{"chosen", []hca.GID{local, mapped(1, false), {Index: 4, Addr: local.Addr}}, hca.Ethernet, 4, 4},
		{"chosen but missing", []hca.GID{local, mapped(1, false)}, hca.Ethernet, 2, -1},
		{"InfiniBand", []hca.GID{local}, hca.InfiniBand, 0, 0},
	} {
		g, err := pickGID("dev", tt.gids, tt.layer, tt.index)
		if err == nil && g.Index != tt.want || err != nil && tt.want >= 0 {
			t.Errorf("%s: got %v, %v; want index %d", tt.name, g, err, tt.want)
		}
	}
}
