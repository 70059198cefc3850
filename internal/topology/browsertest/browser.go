// Package browsertest opens files in a real browser, for tests of pictures and pages:
// Screenshot returns what it renders, Evaluate runs a script on the layout.
//
// It needs a headless Chromium, which scripts/install-test-deps.sh installs. Without
// one, it skips the calling test. If the browser fails, the test fails.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"image"
	_ "image/png" // screenshots are PNG
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// timeout limits one run of the browser, which takes a second or two.
const timeout = 2 * time.Minute

func browser(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("SKIPPED: needs Chromium, to look at the rendered page (scripts/install-test-deps.sh installs it)")
	return ""
}

func run(t testing.TB, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	args = append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--no-first-run",
		"--user-data-dir=" + t.TempDir(),
	}, args...)
	cmd := exec.CommandContext(ctx, browser(t), args...)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("browser: %v\n%s", err, errOut.String())
	}
	return out
}

// Screenshot renders a file in a window of the given size and returns the picture. If
// the environment variable BROWSERTEST_KEEP names a folder, the PNG is kept there.
func Screenshot(t testing.TB, file string, width, height int) image.Image {
	t.Helper()
	dir := t.TempDir()
	if keep := os.Getenv("BROWSERTEST_KEEP"); keep != "" {
		dir = keep
	}
	png := filepath.Join(dir, strings.NewReplacer("/", "-", " ", "_").Replace(t.Name())+".png")
	run(t, fmt.Sprintf("--window-size=%d,%d", width, height), "--screenshot="+png, "file://"+absolute(t, file))
	f, err := os.Open(png)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, _, err := image.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// Evaluate opens files (pages or SVG pictures) in one browser and runs script, the body
// of a function, on each of them. In the script, doc is the document or, for a picture,
// the element that holds it. Evaluate decodes the list of the returned values into
// results.
func Evaluate(t testing.TB, files []string, script string, results any) {
	t.Helper()
	texts := make([]string, len(files))
	for i, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(b)
	}
	// The page contains the texts itself, because scripts cannot access a frame with
	// another file.
	page := fmt.Sprintf(`<!doctype html><meta charset="utf-8"><body style="margin:0"><script>
const texts = %s, docs = [];
for (const text of texts) {
	if (text.startsWith("<svg")) {
		const div = document.createElement("div");
		div.innerHTML = text;
		document.body.append(div);
		docs.push(div);
		continue;
	}
	const f = document.createElement("iframe");
	f.width = 1120;
	f.height = 4000;
	document.body.append(f);
	f.contentDocument.write(text);
	f.contentDocument.close();
	docs.push(f.contentDocument);
}
addEventListener("load", () => setTimeout(() => {
	const pre = document.createElement("pre");
	pre.id = "result";
	pre.textContent = JSON.stringify(docs.map(doc => { %s }));
	document.body.append(pre);
}, 50));
</script>`, quote(t, texts), script)
	name := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(name, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	dom := string(run(t, "--virtual-time-budget=4000", "--window-size=2400,1400", "--dump-dom", "file://"+name))
	_, after, ok := strings.Cut(dom, `<pre id="result">`)
	body, _, ok2 := strings.Cut(after, "</pre>")
	if !ok || !ok2 {
		t.Fatalf("no result in the page:\n%.2000s", dom)
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(body)), results); err != nil {
		t.Fatalf("result %q: %v", body, err)
	}
}

// quote returns texts as a JavaScript value that cannot end its script element.
func quote(t testing.TB, texts []string) string {
	t.Helper()
	b, err := json.Marshal(texts) // escapes <, > and & too
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func absolute(t testing.TB, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
