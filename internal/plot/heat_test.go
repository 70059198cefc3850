package plot

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"thundercollective/internal/topology/browsertest"
)

// square makes tables of n ranks whose pairs have so many parts; one of them is
// down.
func square(n, parts int) *HeatMap {
	h := &HeatMap{Title: "thunder bench matrix", Note: "A cell is all rails of a pair together; below it is each rail alone.",
		Subtitle: "8 ranks on mac-1, mac-2, mac-3 · fabric tcp with 4 streams · every result checked"}
	for k := range 4 {
		t := HeatTable{Title: fmt.Sprintf("bandwidth both ways, %d (GB/s)", k), Row: "from", Col: "to", Hue: k % 2,
			Format: func(v float64) string { return fmt.Sprintf("%.3g", v) }}
		for i := range n {
			t.Names = append(t.Names, strconv.Itoa(i))
			row, below := make([]float64, n), make([][]float64, n)
			for j := range n {
				if row[j] = float64(1+i+n*j) * 0.123; i == j {
					row[j] = math.NaN()
					continue
				}
				for p := range parts {
					v := row[j] / float64(p+2)
					if i == 1 && p == 1 {
						v = math.NaN()
					}
					below[j] = append(below[j], v)
				}
			}
			t.Cells, t.Parts = append(t.Cells, row), append(t.Parts, below)
		}
		h.Tables = append(h.Tables, t)
	}
	return h
}

func TestHeatMap(t *testing.T) {
	for _, c := range []struct{ ranks, parts, cells, down int }{{2, 0, 4 * 4, 0}, {3, 2, 4 * (9 + 6*2), 4 * 2}} {
		var b bytes.Buffer
		if err := square(c.ranks, c.parts).WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		if got, want := elements(t, b.Bytes())["rect"], 1+c.cells+4*scaleSteps; got != want {
			t.Errorf("%d ranks with %d parts: %d rectangles, want the ground, the cells and the scales, %d", c.ranks, c.parts, got, want)
		}
		if got := strings.Count(b.String(), ">down<"); got != c.down {
			t.Errorf("%d ranks with %d parts: %d are shown as down, want %d", c.ranks, c.parts, got, c.down)
		}
	}
	for what, spoil := range map[string]func(*HeatTable){
		"a missing row":           func(t *HeatTable) { t.Cells = t.Cells[:1] },
		"a short row":             func(t *HeatTable) { t.Cells[1] = t.Cells[1][:1] },
		"parts of a missing row":  func(t *HeatTable) { t.Parts = t.Parts[:1] },
		"parts of a missing cell": func(t *HeatTable) { t.Parts[0] = t.Parts[0][:1] },
	} {
		h := square(2, 1)
		spoil(&h.Tables[3])
		if err := h.WriteSVG(io.Discard); err == nil {
			t.Errorf("a table with %s was drawn", what)
		}
	}
}

// The number in a cell is read on its colour, on light and on dark ground: a
// contrast of 4.5 or more, by the formula of WCAG.
func TestHeatTextIsReadable(t *testing.T) {
	light, dark, _ := strings.Cut(style, "@media")
	colour := func(css, name string) (rgb [3]float64) {
		m := regexp.MustCompile(`--` + name + `:#([0-9a-f]{6})`).FindStringSubmatch(css)
		if m == nil {
			t.Fatalf("no colour %s", name)
		}
		for i := range rgb {
			v, _ := strconv.ParseUint(m[1][2*i:2*i+2], 16, 8)
			rgb[i] = float64(v) / 255
		}
		return rgb
	}
	luminance := func(rgb [3]float64) float64 {
		sum := 0.0
		for i, v := range rgb {
			if v <= 0.03928 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			sum += v * [3]float64{0.2126, 0.7152, 0.0722}[i]
		}
		return sum
	}
	for ground, css := range map[string]string{"light": light, "dark": dark} {
		bg, ink, white := colour(css, "bg"), colour(css, "cell"), [3]float64{1, 1, 1}
		for hue := range maxHeats {
			full := colour(light, fmt.Sprintf("h%d", hue)) // the same on both
			for step := range 101 {
				a := depth(float64(step) / 100)
				var fill [3]float64
				for i := range fill {
					fill[i] = bg[i]*(1-a) + full[i]*a
				}
				text := ink
				if a > whiteFrom {
					text = white
				}
				x, y := luminance(fill)+0.05, luminance(text)+0.05
				if contrast := max(x, y) / min(x, y); contrast < 4.5 {
					t.Errorf("%s ground, hue %d, %d%%: contrast %.2f", ground, hue, step, contrast)
				}
			}
		}
	}
}

// A real browser finds every text inside the picture, and no two on each other.
func TestHeatMapInBrowser(t *testing.T) {
	var files []string
	for n := 2; n <= 8; n++ {
		for _, parts := range []int{0, 2, 4} {
			path := filepath.Join(t.TempDir(), fmt.Sprintf("%d-%d.svg", n, parts))
			var b bytes.Buffer
			if err := square(n, parts).WriteSVG(&b); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, path)
		}
	}
	var complaints [][]string
	browsertest.Evaluate(t, files, `
		const svg = doc.querySelector("svg"), out = [];
		const boxes = [...svg.querySelectorAll("text")].map(e => [e.getBBox(), e.textContent]);
		const w = svg.viewBox.baseVal.width, h = svg.viewBox.baseVal.height;
		boxes.forEach(([a, s], i) => {
			if (a.x < 2 || a.y < 2 || a.x + a.width > w - 2 || a.y + a.height > h - 2) out.push("outside: " + s);
			if (a.width > 56 && a.height < 14 && /^[0-9.]+$/.test(s)) out.push("wider than its cell: " + s);
			boxes.slice(i + 1).forEach(([b, r]) => {
				if (a.x < b.x + b.width && b.x < a.x + a.width && a.y + 2 < b.y + b.height && b.y + 2 < a.y + a.height)
					out.push("overlap: " + s + " and " + r);
			});
		});
		return out.slice(0, 5);`, &complaints)
	for i, list := range complaints {
		for _, c := range list {
			t.Errorf("%s: %s", filepath.Base(files[i]), c)
		}
	}
	if len(complaints) != len(files) {
		t.Errorf("%d pictures were looked at, of %d", len(complaints), len(files))
	}
}
