package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// elements parses doc as XML and counts its elements by name.
func elements(t *testing.T, doc []byte) map[string]int {
	t.Helper()
	count := map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(doc))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, doc)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
		if text, ok := token.(xml.CharData); ok && bytes.Contains(text, []byte("NaN")) {
			t.Errorf("text holds a NaN: %s", text)
		}
	}
}

func TestChartDrawsEveryPointItCan(t *testing.T) {
	nan := math.NaN()
	c := Chart{Title: `a < b & "c"`, Subtitle: "one\x00two", Panels: []Panel{
		{Title: "log", X: Axis{Base: 2}, Y: Axis{Base: 10}, Series: []Series{
			{Name: "full", X: []float64{4, 8, 16}, Y: []float64{1, 2, 3}, Low: []float64{1, 1, 2}, High: []float64{2, 3, 4}},
			{Name: "holes", X: []float64{0, 8, 16, 32}, Y: []float64{1, nan, 3, math.Inf(1)}},
		}},
		{Title: "linear", Series: []Series{{X: []float64{1}, Y: []float64{1}}}},
		{Title: "empty"},
	}}
	var b bytes.Buffer
	if err := c.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	got := elements(t, b.Bytes())
	// Three points, the one whole point of "holes", and one of the second panel.
	if got["circle"] != 5 {
		t.Errorf("%d points drawn, want 5", got["circle"])
	}
	if n := strings.Count(b.String(), `class="band"`); n != 1 {
		t.Errorf("%d bands drawn, want 1", n)
	}
	if !strings.Contains(b.String(), "nothing to show") {
		t.Error("the empty panel does not say so")
	}
	if strings.Contains(strings.ReplaceAll(b.String(), style, ""), "NaN") {
		t.Error("a NaN got into the drawing")
	}
}

func TestChartRefusesUnevenSeries(t *testing.T) {
	for _, s := range []Series{
		{X: []float64{1, 2}, Y: []float64{1}},
		{X: []float64{1}, Y: []float64{1}, Low: []float64{1}},
		{X: []float64{1}, Y: []float64{1}, Low: []float64{}, High: []float64{1}},
	} {
		c := Chart{Panels: []Panel{{Series: []Series{s}}}}
		if err := c.WriteSVG(io.Discard); err == nil {
			t.Errorf("%+v was drawn", s)
		}
	}
}

func TestTicks(t *testing.T) {
	labels := func(s span) string {
		var list []string
		for _, tick := range s.ticks {
			if tick.label != "" {
				list = append(list, tick.label)
			}
		}
		return strings.Join(list, " ")
	}
	for _, c := range []struct {
		axis   Axis
		values []float64
		want   string
	}{
		{Axis{Base: 2}, []float64{4, 64 << 20}, "32 1024 3.277e+04 1.049e+06 3.355e+07"},
		{Axis{Base: 2}, []float64{4, 64}, "4 8 16 32 64"},
		{Axis{Base: 2}, []float64{1024}, "1024"},
		{Axis{Base: 10}, []float64{3, 40}, "2 5 10 20 50"},
		{Axis{Base: 10}, []float64{0.002, 400}, "0.01 0.1 1 10 100"},
		{Axis{Base: 10}, []float64{7}, "5 10"},
		{Axis{}, []float64{3, 42}, "0 10 20 30 40 50"},
		{Axis{}, []float64{0}, "0 0.2 0.4 0.6 0.8 1"},
	} {
		s := c.axis.span(c.values)
		if got := labels(s); got != c.want {
			t.Errorf("ticks of %v on base %g: %s, want %s", c.values, c.axis.Base, got, c.want)
		}
		for _, v := range c.values {
			if p := s.part(v); p < -1e-9 || p > 1+1e-9 {
				t.Errorf("%g lies outside its axis, at %g", v, p)
			}
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriteErrorIsReturned(t *testing.T) {
	if err := (&Chart{}).WriteSVG(brokenWriter{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
	if err := (&HeatMap{}).WriteSVG(brokenWriter{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
}

func TestSparkAndBar(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{nil, ""},
		{[]float64{5}, "▅"},
		{[]float64{1, 10, 100}, "▁▅█"},
		{[]float64{1, 0, math.NaN(), 100}, "▁  █"},
	} {
		if got := Spark(c.values); got != c.want {
			t.Errorf("Spark(%v) = %q, want %q", c.values, got, c.want)
		}
	}
	for _, c := range []struct {
		v, max float64
		width  int
		want   string
	}{
		{1, 1, 3, "███"}, {9, 1, 3, "███"}, {1, 2, 3, "█▌"}, {0, 1, 3, ""}, {math.NaN(), 1, 3, ""}, {1, 0, 3, ""}, {1, 1, 0, ""},
	} {
		if got := Bar(c.v, c.max, c.width); got != c.want {
			t.Errorf("Bar(%v, %v, %d) = %q, want %q", c.v, c.max, c.width, got, c.want)
		}
	}
}
