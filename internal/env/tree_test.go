package env

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the root of the module.
const root = "../.."

var (
	name     = regexp.MustCompile(`\b` + Prefix + `[A-Z0-9_]*[A-Z0-9]\b`)
	constant = regexp.MustCompile(`(?m)^\t(\w+) += "(` + Prefix + `\w+)"$`)
	direct   = regexp.MustCompile(`(?i)(getenv|lookupenv)\("` + Prefix)
)

// notVariables are names in the tree that look like variables, beside those of C.
var notVariables = map[string]string{
	"THUNDER_MODULE": "a macro of the Python extension",
	"THUNDER_TIMOUT": "a misspelling, in tests and texts",
}

// sources returns the files of the tree by their paths: Go, Python, C, C++, shell, make,
// documentation and manifests.
func sources(t *testing.T) map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); path != root && (strings.HasPrefix(base, ".") || base == "bin" || base == "build" || base == "testdata" && strings.Contains(path, "stories")) {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".py", ".c", ".h", ".cpp", ".hpp", ".sh", ".md", ".yaml", ".yml", ".toml", ".mk":
		default:
			if d.Name() != "Makefile" {
				return nil
			}
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("only %d files under %s", len(files), root)
	}
	return files
}

// TestTree looks through the tree for names that are missing from the table, for names in
// it that nothing uses, and for code that does not ask the table.
func TestTree(t *testing.T) {
	files := sources(t)
	inC := map[string]bool{} // enumerations and macros
	for path, text := range files {
		if strings.HasPrefix(path, "bindings/c/") && strings.HasSuffix(path, ".h") {
			for _, n := range name.FindAllString(text, -1) {
				inC[n] = true
			}
		}
	}
	used := map[string]bool{}
	constants := map[string]string{}
	for _, m := range constant.FindAllStringSubmatch(files["internal/env/table.go"], -1) {
		constants[m[1]] = m[2]
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		text, own := files[path], strings.HasPrefix(path, "internal/env/")
		for _, n := range name.FindAllString(text, -1) {
			switch {
			case Lookup(n) == nil && !inC[n] && notVariables[n] == "":
				t.Errorf("%s: %s is not in the table", path, n)
			case !own && !strings.HasSuffix(path, ".md"):
				used[n] = true
			}
		}
		if !own && strings.HasSuffix(path, ".go") {
			for ident, n := range constants {
				used[n] = used[n] || strings.Contains(text, "env."+ident)
			}
			if !strings.HasSuffix(path, "_test.go") && direct.MatchString(text) {
				t.Errorf("%s reads a variable without the table", path)
			}
		}
	}
	for _, v := range All() {
		if !used[v.Name] {
			t.Errorf("nothing uses %s", v.Name)
		}
	}
}
