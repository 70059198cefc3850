package bench

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// golden compares got with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test ./bench -update rewrites it). got:\n%s\nwant:\n%s", path, got, want)
	}
}

func sampleRows() []Row {
	var rows []Row
	for i, micros := range []float64{12.345, 20, 1234.5, 3.2e6} {
		var wrong int64
		r := Row{Mode: AllReduce, Algo: "ring", WorldSize: 4, SizeBytes: 4 << (8 * i), Count: 1 << (8 * i), DType: "bf16", Op: "sum", Root: -1, Checked: 3, Wrong: &wrong}
		r.setTimes([]float64{micros * 1e-6, micros * 1.5e-6, micros * 2e-6})
		rows = append(rows, r)
	}
	return rows
}

func write(t *testing.T, color Color, rows []Row) []byte {
	t.Helper()
	var b bytes.Buffer
	table := &Table{W: &b, Color: color}
	if err := table.Header([]string{"thunder bench allreduce", "4 ranks"}); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := table.Row(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Footer(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTable(t *testing.T) {
	rows := sampleRows()
	golden(t, "right.txt", write(t, false, rows))

	var wrong int64 = 17
	rows[1].Wrong = &wrong
	golden(t, "wrong.txt", write(t, false, rows))
	golden(t, "wrong-colour.txt", write(t, true, rows))

	rows = sampleRows()
	rows[0].Wrong, rows[0].Checked, rows[0].Root = nil, 0, 2
	golden(t, "unchecked.txt", write(t, false, rows[:1]))
	golden(t, "empty.txt", write(t, false, nil))
}

func TestTableColumnsLineUp(t *testing.T) {
	out := string(write(t, false, sampleRows()))
	width := 0
	for line := range strings.Lines(out) {
		// Of the lines behind a #, only the names reach to the last column.
		if line = strings.TrimRight(line, "\n"); strings.HasPrefix(line, "#") && !strings.Contains(line, "redop") {
			continue
		}
		if width == 0 {
			width = len(line)
		}
		if len(line) != width {
			t.Errorf("%d characters, not %d: %q", len(line), width, line)
		}
	}
}

// A narrow terminal gets the columns that fit, the important ones first.
func TestTableFitsTheTerminal(t *testing.T) {
	for _, width := range []int{40, 60, 80, 100, 120, 132, 200} {
		var b bytes.Buffer
		table := &Table{W: &b, Width: width}
		if err := table.Header(nil); err != nil {
			t.Fatal(err)
		}
		for _, r := range sampleRows() {
			if err := table.Row(r); err != nil {
				t.Fatal(err)
			}
		}
		for line := range strings.Lines(b.String()) {
			if n := len(strings.TrimSuffix(line, "\n")); n > max(width, 41) {
				t.Errorf("%d characters do not fit %d: %q", n, width, line)
			}
		}
		for _, name := range []string{"size", "time", "busbw", "#wrong"} {
			if !strings.Contains(b.String(), name) {
				t.Errorf("width %d: no column %s", width, name)
			}
		}
		if got := strings.Contains(b.String(), "p99"); got != (width >= 60) {
			t.Errorf("width %d: column p99 is shown: %v", width, got)
		}
	}
}

func TestChart(t *testing.T) {
	var svg bytes.Buffer
	if err := Chart("title", "sub", Line{"tcp", sampleRows()}, Line{"mem", sampleRows()}).WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(svg.String(), "<circle"); n != 2*2*4 {
		t.Errorf("%d points drawn, want 16", n)
	}
}
