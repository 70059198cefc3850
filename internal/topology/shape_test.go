package topology

import (
	"strings"
	"testing"
)

func TestShapes(t *testing.T) {
	tests := []struct {
		name   string
		n      int
		cables [][2]int
		want   string
		says   string
		plug   int
	}{
		{"one", 1, nil, Alone, "One machine, no cable", 0},
		{"pair", 2, [][2]int{{0, 1}}, Mesh, "joined by 1 cable", 0},
		{"double pair", 2, [][2]int{{0, 1}, {0, 1}}, Mesh, "joined by 2 cables", 0},
		{"apart", 2, nil, Broken, "m0 | m1", 1},
		{"triangle", 3, [][2]int{{0, 1}, {1, 2}, {2, 0}}, Mesh, "all 3 pairs", 0},
		{"line of three", 3, [][2]int{{0, 1}, {1, 2}}, Chain, "m0 – m1 – m2", 1},
		{"square", 4, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}}, Ring, "m0 – m1 – m2 – m3 – m0", 2},
		{"twisted square", 4, [][2]int{{0, 2}, {2, 1}, {1, 3}, {3, 0}}, Ring, "m0 – m2 – m1 – m3 – m0", 2},
		{"square and a half", 4, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}}, Ring, "nearly a mesh (5 of 6", 1},
		{"star", 4, [][2]int{{0, 1}, {0, 2}, {0, 3}}, Branched, "neither ring nor chain", 3},
		{"two pairs", 4, [][2]int{{0, 1}, {2, 3}}, Broken, "m0, m1 | m2, m3", 4},
		{"long chain", 6, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, Chain, "m0 – m1", 1},
		{"islands of six", 6, [][2]int{{0, 1}, {2, 3}, {4, 5}}, Broken, "m4, m5", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ms := macs(tt.n, 6)
			used := make([]int, tt.n)
			for _, c := range tt.cables {
				used[c[0]]++
				used[c[1]]++
				plugIn(ms, c[0], used[c[0]], c[1], used[c[1]])
			}
			g := Build(ms)
			if g.Shape.Name != tt.want || !strings.Contains(g.Sentence(), tt.says) {
				t.Errorf("%s: %s", g.Shape.Name, g.Sentence())
			}
			if len(g.Plug) != tt.plug {
				t.Errorf("advice %v, want %d cables", g.Plug, tt.plug)
			}
			for _, p := range g.Plug {
				if p.Blocked != "" {
					t.Errorf("blocked: %s", p)
				}
				for _, e := range []End{p.A, p.B} {
					if ms[e.Machine].Thunderbolt.Ports[e.Port-1].Connected {
						t.Errorf("%s: that port is taken", p)
					}
				}
			}
		})
	}
}

// TestAdviceLeadsThere checks that following all advice results in the promised shape.
func TestAdviceLeadsThere(t *testing.T) {
	for _, cables := range [][][2]int{{{0, 1}, {1, 2}, {2, 3}}, {{0, 1}, {0, 2}, {0, 3}}, {{0, 1}, {2, 3}}, nil} {
		ms := macs(4, 6)
		used := make([]int, 4)
		for _, c := range cables {
			used[c[0]]++
			used[c[1]]++
			plugIn(ms, c[0], used[c[0]], c[1], used[c[1]])
		}
		for _, p := range Build(ms).Plug {
			plugIn(ms, p.A.Machine, p.A.Port, p.B.Machine, p.B.Port)
		}
		if g := Build(ms); g.Shape.Name != Mesh {
			t.Errorf("from %v: %s", cables, g.Sentence())
		}
	}
}

func TestAdviceWhenPortsAreShort(t *testing.T) {
	ms := macs(3, 2)
	plugIn(ms, 0, 1, 1, 1)
	plugIn(ms, 0, 2, 1, 2)
	g := Build(ms)
	for _, p := range g.Plug {
		if !strings.Contains(p.String(), "second cable") {
			t.Errorf("advice %q does not say which cable to move", p)
		}
	}
	if len(g.Plug) != 2 {
		t.Errorf("advice %v", g.Plug)
	}
}

// The port next to Ethernet of a Mac Studio is recommended last.
func TestAdviceAvoidsThePortWithoutRDMA(t *testing.T) {
	g := story(t, "four-macs-ring")
	for _, p := range g.Plug {
		if p.A.Port == 1 || p.B.Port == 1 {
			t.Errorf("%s: port 1 cannot do RDMA", p)
		}
	}
}
