package netns

import (
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	var names []string
	t.Run("while the test runs", func(t *testing.T) {
		names = New(t, 2)
		if names[0] == names[1] {
			t.Fatalf("both are %s", names[0])
		}
		Run(t, Inside(names[0], "ip", "link", "set", "lo", "up")...)
		for i, want := range []string{"LOOPBACK,UP", "state DOWN"} {
			if got := string(Run(t, Inside(names[i], "ip", "link")...)); !strings.Contains(got, want) || strings.Contains(got, "2:") {
				t.Errorf("namespace %d, want lo alone and %s:\n%s", i, want, got)
			}
		}
	})
	if len(names) == 0 {
		t.Skip("SKIPPED: no namespace was made")
	}
	list := string(Run(t, "ip", "netns", "list"))
	for _, name := range names {
		if strings.Contains(list, name+"\n") || strings.Contains(list, name+" ") {
			t.Errorf("%s is left:\n%s", name, list)
		}
	}
}
