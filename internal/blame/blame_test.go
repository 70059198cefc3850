package blame

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "blame")
	if rank, ok := Read(file); ok {
		t.Errorf("no file blames rank %d", rank)
	}
	for _, rank := range []int{3, 0} {
		if err := Write(file, rank); err != nil {
			t.Fatal(err)
		}
		if got, ok := Read(file); !ok || got != rank {
			t.Errorf("got %d, %v, want %d", got, ok, rank)
		}
	}
	for _, text := range []string{"", "-1", "me", "1 2"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if rank, ok := Read(file); ok {
			t.Errorf("%q blames rank %d", text, rank)
		}
	}
}
