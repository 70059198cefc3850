package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module     = "thundercollective"
	top        = "../.." // of the tree
	mostFiles  = 16      // in the root package
	mostFields = 25
	mostMethod = 30
	mostTerms  = 15 // in the glossary
)

// A pack is the source of one package, without tests.
type pack struct {
	path    string // relative to the module, "." for the root
	files   []*ast.File
	imports []string // of this module, relative to it
}

// packages parses the whole tree.
func packages(t *testing.T) map[string]*pack {
	t.Helper()
	all := map[string]*pack{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if rel != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "bin") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); rel != "." && err == nil {
				return filepath.SkipDir // a module of its own
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(rel))
		if all[dir] == nil {
			all[dir] = &pack{path: dir}
		}
		p := all[dir]
		p.files = append(p.files, f)
		for _, i := range f.Imports {
			name, _ := strconv.Unquote(i.Path.Value)
			if name == module {
				name = module + "/."
			}
			if rest, ok := strings.CutPrefix(name, module+"/"); ok && !slices.Contains(p.imports, rest) {
				p.imports = append(p.imports, rest)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 40 {
		t.Fatalf("found only %d packages", len(all))
	}
	return all
}

// TestPublic: importable are the root, train, and fabric with its test suite; what else
// is not internal is a program.
func TestPublic(t *testing.T) {
	all := packages(t)
	if n := len(all["."].files); n > mostFiles {
		t.Errorf("the root has %d files, the most is %d: which of them are the public face?", n, mostFiles)
	}
	for path, p := range all {
		switch {
		case path == "." || path == "train" || path == "fabric" || path == "fabric/fabrictest":
		case strings.HasPrefix(path, "internal/") || strings.Contains(path, "/internal/"):
		case p.files[0].Name.Name != "main":
			t.Errorf("%s can be imported from outside", path)
		}
	}
}

// layers are the packages from the lowest to the highest. A package imports none of its
// own layer, unless a folder of it, and none above.
var layers = [][]string{
	{"fabric", "internal/freeport", "internal/leaks", "internal/netns", "internal/patience", "internal/plural", "internal/publish", "internal/ticks", "internal/crc32c", "internal/spin", "internal/ctxwatch", "internal/hugepages", "internal/failure", "internal/liveness", "internal/membership", "internal/cabling"},
	{"internal/env", "internal/recorder", "internal/metrics", "internal/traffic", "internal/sysmem", "internal/sendqueue", "internal/linktable"},
	{"internal/reduce", "internal/rendezvous", "internal/blame"},
	{"internal/provider", "internal/collective"},
	{"internal/tuning", "internal/telemetry", "internal/wiring"},
	{"internal/session", "internal/group"},
	{"."},
	{"train", "internal/bench", "internal/plot", "internal/inspect", "internal/launch", "internal/topology"},
	{"internal/doctor", "internal/setup"},
	{"cmd/thunder", "bindings/c"},
}

// between are the imports within a layer that the architecture knows of.
var between = map[string][]string{
	"internal/bench":    {"internal/plot"},
	"internal/topology": {"internal/launch"},
	"fabric":            {"internal/leaks", "internal/patience"}, // fabrictest
	"internal/cabling":  {"internal/netns"},
}

// TestLayers: nothing imports upwards; in particular, session and group do not know each
// other.
func TestLayers(t *testing.T) {
	level := map[string]int{}
	for i, layer := range layers {
		for _, path := range layer {
			level[path] = i
		}
	}
	home := func(path string) string { // the listed package that path is, or is a folder of
		for ; path != "."; path = filepath.ToSlash(filepath.Dir(path)) {
			if _, ok := level[path]; ok {
				return path
			}
		}
		return ""
	}
	at := func(path string) string {
		if path == "." {
			return path
		}
		return home(path)
	}
	for path, p := range packages(t) {
		from := at(path)
		if from == "" {
			continue // examples and what serves tests
		}
		for _, i := range p.imports {
			to := at(i)
			switch {
			case to == from:
			case to == "":
				t.Errorf("%s imports %s, which has no layer", path, i)
			case level[to] > level[from], level[to] == level[from] && !slices.Contains(between[from], to):
				t.Errorf("%s imports %s, which is not below it", path, i)
			}
		}
	}
}

// TestStructs: no struct is so large that nobody can say what it is for.
func TestStructs(t *testing.T) {
	for path, p := range packages(t) {
		methods := map[string]int{}
		for _, f := range p.files {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv != nil {
						methods[receiver(d.Recv.List[0].Type)]++
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if ts, ok := s.(*ast.TypeSpec); ok {
							if n := fields(ts.Type); n > mostFields {
								t.Errorf("%s: %s has %d fields, the most is %d", path, ts.Name.Name, n, mostFields)
							}
						}
					}
				}
			}
		}
		for name, n := range methods {
			if n > mostMethod {
				t.Errorf("%s: %s has %d methods, the most is %d", path, name, n, mostMethod)
			}
		}
	}
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func fields(e ast.Expr) (n int) {
	s, ok := e.(*ast.StructType)
	if !ok {
		return 0
	}
	for _, f := range s.Fields.List {
		n += max(1, len(f.Names))
	}
	return n
}

// TestContract: package fabric has one optional interface, Memory. A Fabric and its Links
// are mandatory, and a Board is a part of Memory.
func TestContract(t *testing.T) {
	var got []string
	for _, f := range packages(t)["fabric"].files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				ts, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if _, ok := ts.Type.(*ast.InterfaceType); ok && ts.Name.IsExported() {
					got = append(got, ts.Name.Name)
				}
			}
		}
	}
	slices.Sort(got)
	if want := []string{"Board", "Fabric", "Link", "Memory"}; !slices.Equal(got, want) {
		t.Errorf("fabric has the interfaces %v, want %v", got, want)
	}
}

// TestDocs: every package has a manual, ARCHITECTURE.md names every layer and every file
// of its walks exists, and its glossary is short.
func TestDocs(t *testing.T) {
	for path, p := range packages(t) {
		documented := slices.ContainsFunc(p.files, func(f *ast.File) bool { return f.Doc != nil })
		if generated := slices.ContainsFunc(p.files, ast.IsGenerated); !documented && !generated {
			t.Errorf("%s has no package comment", path)
		}
	}
	b, err := os.ReadFile(filepath.Join(top, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, layer := range layers {
		for _, path := range layer {
			if name := strings.TrimPrefix(path, "internal/"); path != "." && !strings.Contains(text, name) {
				t.Errorf("ARCHITECTURE.md does not mention %s", name)
			}
		}
	}
	walk := section(t, text, "## One all-reduce, file by file")
	files := 0
	for word := range strings.FieldsFuncSeq(walk, func(r rune) bool {
		return r == '`' || r == ' ' || r == '\n' || r == ',' || r == ';' || r == '(' || r == ')'
	}) {
		if !strings.HasSuffix(word, ".go") {
			continue
		}
		files++
		if _, err := os.Stat(filepath.Join(top, word)); err != nil {
			t.Errorf("ARCHITECTURE.md walks through %s: %v", word, err)
		}
	}
	if files < 6 {
		t.Errorf("the walk passes %d files", files)
	}
	terms := 0
	for line := range strings.Lines(section(t, text, "## Glossary")) {
		if strings.HasPrefix(line, "| **") {
			terms++
		}
	}
	if terms < 8 || terms > mostTerms {
		t.Errorf("the glossary has %d terms, the most is %d", terms, mostTerms)
	}
}

// section returns the text under a heading, up to the next one of the same level.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, heading+"\n")
	if !ok {
		t.Fatalf("ARCHITECTURE.md has no %q", heading)
	}
	part, _, _ := strings.Cut(rest, "\n## ")
	return part
}
