package topology

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// On a narrow terminal the tables omit columns, and keep what matters.
func TestTableFitsTheTerminal(t *testing.T) {
	for _, name := range []string{"two-macs-two-cables", "four-macs-mesh", "three-pcs-on-a-switch"} {
		g := story(t, name)
		for _, width := range []int{80, 100, 0} {
			var b bytes.Buffer
			if err := g.WriteTable(&b, width); err != nil {
				t.Fatal(err)
			}
			tables, _, _ := strings.Cut(b.String(), "\n\n"+g.Sentence())
			for line := range strings.Lines(tables) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, " \n")); width > 0 && n > width {
					t.Errorf("%s: %d characters do not fit %d: %q", name, n, width, line)
				}
			}
			for _, want := range []string{"MACHINE", "THUNDERBOLT", "RDMA"} {
				if !strings.Contains(tables, want) {
					t.Errorf("%s: width %d: no column %s\n%s", name, width, want, tables)
				}
			}
			if full := strings.Contains(tables, "MODEL"); width == 0 && !full || width == 80 && full {
				t.Errorf("%s: width %d: column MODEL is shown: %v\n%s", name, width, full, tables)
			}
		}
	}
}
