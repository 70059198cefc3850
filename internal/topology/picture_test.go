package topology

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"thundercollective/internal/topology/browsertest"
	"thundercollective/internal/topology/probe"
)

// pictures are the graphs that the picture tests draw.
func pictures(t testing.TB) map[string]*Graph {
	out := map[string]*Graph{}
	for _, name := range []string{
		"four-macs-mesh", "four-macs-mesh-lacks-one", "mac-behind-a-hub", "two-macs-two-cables", "seen-from-one-end",
		"one-mac-alone", "nothing-to-cable", "bridge-holds-the-port", "connectx-in-an-enclosure", "two-strix-halo-two-rails",
	} {
		out[name] = story(t, name)
	}
	for _, n := range []int{3, 6, 9} {
		ms := macs(n, 8)
		used := make([]int, n)
		for a := range n {
			for b := a + 1; b < n && used[a] < 8; b++ {
				if used[b] < 8 {
					used[a]++
					used[b]++
					plugIn(ms, a, used[a], b, used[b])
				}
			}
		}
		out["mesh of "+strconv.Itoa(n)] = Build(ms)
	}
	ms := macs(2, 3)
	ms[0].Host, ms[1].Host = `<b>"&`, strings.Repeat("long-name-", 5)
	plugIn(ms, 0, 1, 1, 1)
	ms[0].Thunderbolt.Ports[1].Connected = true
	ms[0].Thunderbolt.Ports[1].Devices = []probe.Node{{Kind: probe.KindDevice, Name: "Drive <3>"}}
	out["odd names"] = Build(ms)
	return out
}

func drawTo(t testing.TB, g *Graph) string {
	t.Helper()
	var b bytes.Buffer
	if err := g.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cabling.svg")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSVG checks that every picture is well-formed XML without references, and shows
// each cable and machine.
func TestSVG(t *testing.T) {
	for name, g := range pictures(t) {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(drawTo(t, g))
			if err != nil {
				t.Fatal(err)
			}
			classes := map[string]int{}
			for d := xml.NewDecoder(bytes.NewReader(b)); ; {
				tok, err := d.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if el, ok := tok.(xml.StartElement); ok {
					for _, a := range el.Attr {
						if a.Name.Local == "class" {
							classes[a.Value]++
						}
						if a.Name.Local == "href" || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
							t.Errorf("attribute %s=%q", a.Name.Local, a.Value)
						}
					}
				}
			}
			missing, strangers := 0, 0
			for _, p := range g.Plug {
				if p.Blocked == "" {
					missing++
				}
			}
			for _, c := range g.Cables {
				if !c.B.Known() {
					strangers++
				}
			}
			if classes["cable"] != len(g.Cables) || classes["missing"] != missing || classes["machine"] != len(g.Machines)+strangers {
				t.Errorf("shows %v", classes)
			}
		})
	}
}

func TestSVGIsStable(t *testing.T) {
	g := story(t, "four-macs-mesh-lacks-one")
	a, _ := os.ReadFile(drawTo(t, g))
	b, _ := os.ReadFile(drawTo(t, story(t, "four-macs-mesh-lacks-one")))
	if !bytes.Equal(a, b) {
		t.Error("the same cabling gives two pictures")
	}
}

// layoutScript measures the picture as the browser lays it out: texts that leave
// the page, and labels that lie on each other or on a machine.
const layoutScript = `
const svg = doc.querySelector("svg"), page = svg.getBoundingClientRect(), bad = [];
const box = e => e.getBoundingClientRect();
const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
for (const t of svg.querySelectorAll("text")) {
	const r = box(t);
	if (r.left < page.left || r.right > page.right + 0.5 || r.top < page.top || r.bottom > page.bottom + 0.5) bad.push("outside: " + t.textContent);
}
const labels = [...svg.querySelectorAll("g.label")], cards = [...svg.querySelectorAll("g.machine > rect:first-child")];
for (const [i, a] of labels.entries()) {
	for (const b of labels.slice(i + 1)) if (over(box(a), box(b))) bad.push("labels: " + a.textContent + " / " + b.textContent);
	for (const c of cards) if (over(box(a), box(c))) bad.push("label on a machine: " + a.textContent);
	const t = box(a.querySelector("text")), r = box(a.querySelector("rect"));
	if (t.left < r.left || t.right > r.right) bad.push("text wider than its label: " + a.textContent);
}
for (const [i, a] of cards.entries()) for (const b of cards.slice(i + 1)) if (over(box(a), box(b))) bad.push("machines overlap");
for (const c of svg.querySelectorAll("g.machine")) {
	const r = box(c.querySelector("rect"));
	for (const t of c.querySelectorAll("text")) if (box(t).right > r.right) bad.push("text leaves its machine: " + t.textContent);
}
return {bad, labels: labels.length, cards: cards.length};`

func TestSVGInABrowser(t *testing.T) {
	var names, files []string
	graphs := pictures(t)
	for name, g := range graphs {
		names, files = append(names, name), append(files, drawTo(t, g))
	}
	var got []struct {
		Bad           []string
		Labels, Cards int
	}
	browsertest.Evaluate(t, files, layoutScript, &got)
	for i, name := range names {
		g := graphs[name]
		if len(got[i].Bad) > 0 {
			t.Errorf("%s: %v", name, got[i].Bad)
		}
		if got[i].Cards < len(g.Machines) || len(g.Cables) <= 6 && got[i].Labels < len(g.Cables) {
			t.Errorf("%s: the browser shows %d machines and %d labels", name, got[i].Cards, got[i].Labels)
		}
	}
}

// TestSVGColours checks that the colours of the legend are on the page.
func TestSVGColours(t *testing.T) {
	var page strings.Builder
	for _, name := range []string{"four-macs-mesh-lacks-one", "two-strix-halo-two-rails", "bridge-holds-the-port", "seen-from-one-end"} {
		fmt.Fprintf(&page, "<img src=%q style='display:block'>\n", drawTo(t, story(t, name)))
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	img := browsertest.Screenshot(t, file, 1000, 2200)
	for _, c := range []string{colourRDMA, colourMissing, colourTCP, colourIdle, colourOneEnded} {
		if n := countColour(img, c); n < 300 {
			t.Errorf("%d pixels of %s", n, c)
		}
	}
}

func countColour(img image.Image, hex string) int {
	v, _ := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	n := 0
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			if r>>8 == uint32(v>>16) && g>>8 == uint32(v>>8&255) && b>>8 == uint32(v&255) {
				n++
			}
		}
	}
	return n
}

func TestDOT(t *testing.T) {
	var b bytes.Buffer
	if err := story(t, "four-macs-mesh-lacks-one").WriteDOT(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Count(text, " -- ") != 6 || strings.Count(text, "style=dashed") != 1 || !strings.Contains(text, `taillabel="4", headlabel="4"`) {
		t.Errorf("graph:\n%s", text)
	}
}
