package doctor

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"thundercollective/internal/topology"
	"thundercollective/internal/topology/probe"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// load probes the captured machines of a story.
func load(t testing.TB, file string) *topology.Graph {
	t.Helper()
	ms, err := probe.Captured(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	return topology.Build(ms)
}

// TestStories compares the output of topo and doctor for every captured cluster with a
// golden file, which begins with the story of the cluster.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			g := load(t, file)
			r := NewReport(time.Unix(1767225600, 0), "test", g, nil)
			var b bytes.Buffer
			b.WriteString(storyOf(t, file) + "\n$ thunder topo\n")
			if err := g.WriteTable(&b, 0); err != nil {
				t.Fatal(err)
			}
			b.WriteString("\n$ thunder doctor\n")
			if err := r.WriteText(&b, TextOptions{}); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "\nexit code %d\n", r.ExitCode())
			golden(t, strings.TrimSuffix(file, ".txtar")+".golden", b.Bytes())
		})
	}
}

// storyOf returns the text before the first file of a .txtar.
func storyOf(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(b), "\n-- ")
	return strings.TrimSpace(text) + "\n"
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (run go test -update)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (run go test -update and read the diff)\ngot:\n%s", file, got)
	}
}
