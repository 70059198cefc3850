package cabling

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func graph(t *testing.T, n int, edges ...Edge) *Graph {
	t.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("host%d", i)
	}
	g, err := New(names, edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestShapes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		n     int
		edges []Edge
		shape Shape
		speed float64
		bound float64
	}{
		{"pair", 2, []Edge{{0, 1, 10}}, TreeShape, 10, 10},
		{"chain", 3, []Edge{{0, 1, 1}, {1, 2, 1}}, TreeShape, 1, 1},
		{"star", 4, []Edge{{2, 0, 1}, {2, 1, 1}, {2, 3, 1}}, TreeShape, 1, 1},
		{"ring", 4, []Edge{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}}, RingShape, 4.0 / 3, 4.0 / 3},
		{"crossed ring", 4, []Edge{{0, 2, 1}, {2, 1, 1}, {1, 3, 1}, {3, 0, 1}}, RingShape, 4.0 / 3, 4.0 / 3},
		{"triangle", 3, []Edge{{0, 1, 1}, {1, 2, 1}, {2, 0, 1}}, RingShape, 1.5, 1.5},
		{"triangle with a slow cable", 3, []Edge{{0, 1, 1}, {1, 2, 1}, {2, 0, 0.1}}, TreeShape, 1, 1.05},
		{"mesh", 4, []Edge{{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {1, 2, 1}, {1, 3, 1}, {2, 3, 1}}, MeshShape, 2, 2},
		{"two cables", 3, []Edge{{0, 1, 1}, {0, 1, 1}, {1, 2, 2}}, TreeShape, 2, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := graph(t, tt.n, tt.edges...)
			shape, speed := g.Best()
			if shape != tt.shape || math.Abs(speed-tt.speed) > 1e-9 {
				t.Errorf("best is a %v at %v, want a %v at %v", shape, speed, tt.shape, tt.speed)
			}
			if b := g.Bound(); math.Abs(b-tt.bound) > 1e-9 {
				t.Errorf("bound is %v, want %v", b, tt.bound)
			}
			parent, _ := g.Tree()
			roots := 0
			for r, p := range parent {
				if p < 0 {
					roots++
				} else if !g.Joined(r, p) {
					t.Errorf("tree joins %d and %d, which have no cable", r, p)
				}
			}
			if roots != 1 {
				t.Errorf("tree %v has %d roots", parent, roots)
			}
		})
	}
}

func TestRingFollowsCables(t *testing.T) {
	// A cube has a ring, but not in the order of the numbers.
	var edges []Edge
	for a := range 8 {
		for bit := 1; bit < 8; bit <<= 1 {
			if a < a^bit {
				edges = append(edges, Edge{a, a ^ bit, 0})
			}
		}
	}
	g := graph(t, 8, edges...)
	ring, _ := g.Ring()
	if len(ring) != 8 {
		t.Fatalf("ring %v", ring)
	}
	for i, a := range ring {
		if !g.Joined(a, ring[(i+1)%8]) || slices.Index(ring, a) != i {
			t.Errorf("ring %v", ring)
		}
	}
}

func TestRoutes(t *testing.T) {
	g := graph(t, 6, Edge{0, 1, 1}, Edge{1, 2, 1}, Edge{2, 3, 1}, Edge{3, 4, 1}, Edge{4, 5, 1}, Edge{5, 0, 1})
	if got := g.Between(0, 2); !reflect.DeepEqual(got, []int{1}) {
		t.Errorf("from 0 to 2 through %v", got)
	}
	for a := range 6 {
		for b := range 6 {
			if a != b && len(g.Between(a, b)) != min((b-a+6)%6, (a-b+6)%6)-1 {
				t.Errorf("from %d to %d through %v", a, b, g.Between(a, b))
			}
		}
	}
}

func TestPart(t *testing.T) {
	g := graph(t, 4, Edge{0, 1, 1}, Edge{1, 2, 0.5}, Edge{2, 3, 1})
	p, err := g.Part([]int{3, 0})
	if err != nil || p.Gbps(0, 1) != 0.5 {
		t.Errorf("ranks 3 and 0 of a chain: %v, %v", p, err)
	}
}

func TestUnreachable(t *testing.T) {
	_, err := New([]string{"anna", "bert", "carl"}, []Edge{{0, 1, 1}})
	if err == nil || !strings.Contains(err.Error(), "rank 2 on carl") {
		t.Errorf("got %v", err)
	}
}

func TestSameMachine(t *testing.T) {
	g, err := New([]string{"anna", "anna", "bert"}, []Edge{{0, 2, 1}, {1, 2, 1}})
	if err != nil || !g.Joined(0, 1) || g.Gbps(0, 1) <= 1 {
		t.Errorf("ranks of one machine: %v, %v", g, err)
	}
}
