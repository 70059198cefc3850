package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestDepend follows the README: another module that depends on a checkout builds.
func TestDepend(t *testing.T) {
	root, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/train\n\ngo 1.26.0\n")
	write("main.go", `package main

import (
	"context"
	"fmt"

	thunder "thundercollective"
)

func main() {
	c, err := thunder.Init(context.Background(), thunder.Options{})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	fmt.Println(c.Size())
}
`)
	for _, args := range [][]string{
		{"mod", "edit", "-require", "thundercollective@v0.0.0", "-replace", "thundercollective@v0.0.0=" + root},
		{"mod", "tidy"},
		{"run", "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		if args[0] == "run" && string(out) != "1\n" {
			t.Errorf("the program printed %q", out)
		}
	}
}
