package blame

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "blame")
	if rank, _, ok := Read(file); ok {
		t.Errorf("no file blames rank %d", rank)
	}
	for rank, why := range []string{"lost it", "", "of a long list", "é" + strings.Repeat("x", 2*maxReason)} {
		if err := Write(file, rank, why+"\nand more"); err != nil {
			t.Fatal(err)
		}
		got, because, ok := Read(file)
		if !ok || got != rank || !strings.HasPrefix(why, because) || (len(because) < min(len(why), maxReason)) {
			t.Errorf("got %d, %q, %v, want %d, %q", got, because, ok, rank, why)
		}
	}
	for _, text := range []string{"", "-1", "me", "1 2"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if rank, _, ok := Read(file); ok {
			t.Errorf("%q blames rank %d", text, rank)
		}
	}
}
