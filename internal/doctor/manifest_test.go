package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"thundercollective/internal/topology"
	"thundercollective/internal/topology/browsertest"
)

// measured returns a complete report of two Macs with measurements.
func measured(t *testing.T) *Report {
	t.Helper()
	g := load(t, "testdata/stories/two-macs-two-cables.txtar")
	var ms []Measurement
	for i := range g.Cables {
		for _, transport := range []string{topology.OverTCP, topology.OverRDMA} {
			m := Measurement{Cable: i, Transport: transport, Tool: toolName(transport), Command: "thunder bench ping-pong ..."}
			for k := range 8 {
				top, base := 5.7, 45.0
				if transport == topology.OverRDMA {
					top, base = 7.1-float64(i), 5.0
				}
				size := 4 << (3 * k)
				us := base + float64(size)/(top*1000)
				m.Rows = append(m.Rows, Row{Size: size, GBs: float64(size) / us / 1000, P50us: us, P99us: us * 1.4})
			}
			ms = append(ms, m)
		}
	}
	return NewReport(time.Unix(1767225600, 0), "test", g, ms)
}

func TestMarkdown(t *testing.T) {
	for name, r := range map[string]*Report{
		"manifest-measured": measured(t),
		"manifest-broken":   NewReport(time.Unix(1767225600, 0), "test", load(t, "testdata/stories/everything-at-once.txtar"), nil),
	} {
		var b bytes.Buffer
		if err := r.WriteMarkdown(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/"+name+".golden.md", b.Bytes())
	}
}

func writePage(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "manifest.html")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The page is self-contained: it refers to nothing outside of it.
func TestHTMLStandsAlone(t *testing.T) {
	b, err := os.ReadFile(writePage(t, measured(t)))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, bad := range []string{"http://", "https://", "<script", "<link", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("%q is in the page", bad)
		}
	}
	if strings.Count(page, "data:image/svg") != 3 {
		t.Errorf("%d pictures", strings.Count(page, "data:image/svg"))
	}
}

// Names of machines must not become markup.
func TestHTMLEscapes(t *testing.T) {
	g := load(t, "testdata/stories/everything-at-once.txtar")
	g.Machines[0].Host = `<script>alert("x")</script>|`
	r := NewReport(time.Unix(0, 0), "test", topology.Build(g.Machines), nil)
	b, err := os.ReadFile(writePage(t, r))
	if err != nil || strings.Contains(string(b), "<script>") {
		t.Errorf("a host name became markup (%v)", err)
	}
}

func TestHTMLInABrowser(t *testing.T) {
	r := measured(t)
	file := writePage(t, r)
	var got []struct {
		Bad     []string
		Broken  int
		Verdict string
		Rows    int
	}
	browsertest.Evaluate(t, []string{file}, `
const bad = [];
for (const e of doc.querySelectorAll("td, p, li, h1, h2, h3, .banner")) {
	if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline") bad.push(e.textContent.trim().slice(0, 60));
}
if (doc.documentElement.scrollWidth > doc.documentElement.clientWidth) bad.push("the page scrolls sideways");
return {bad, broken: [...doc.images].filter(i => !i.complete || i.naturalWidth === 0).length,
	verdict: doc.querySelectorAll(".banner")[1].textContent, rows: doc.querySelectorAll("tr").length};`, &got)
	if len(got[0].Bad) > 0 || got[0].Broken > 0 {
		t.Errorf("layout %v, %d pictures broken", got[0].Bad, got[0].Broken)
	}
	if got[0].Verdict != r.Verdict.Sentence || got[0].Rows < 40 {
		t.Errorf("verdict %q, %d rows", got[0].Verdict, got[0].Rows)
	}
	img := browsertest.Screenshot(t, file, 1120, 4200)
	colours := map[[3]uint32]bool{}
	for y := 0; y < img.Bounds().Dy(); y += 3 {
		for x := 0; x < img.Bounds().Dx(); x += 3 {
			r, g, b, _ := img.At(x, y).RGBA()
			colours[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
		}
	}
	if len(colours) < 100 {
		t.Errorf("the page has %d colours; a picture is missing", len(colours))
	}
}
