package collective

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"thundercollective/internal/reduce"
)

var update = flag.Bool("update", false, "write the table of paths to ARCHITECTURE.md")

// A testbed is what the ranks of a job find out about a fabric.
type testbed struct {
	fabric string
	facts  facts
	choose func(k Kind, size, bytes int) Algo
}

// The providers' limits: shm's board and tcp's short messages. TestPaths of internal/e2e
// asks the providers themselves.
const (
	shmRoom  = 16 << 10
	tcpShort = 8 << 10
)

// testbeds are one machine with shared memory, whose ranks may read each other's memory,
// and machines that are joined by TCP.
var testbeds = []testbed{
	{"shm", facts{room: shmRoom, short: -1, shares: true, reads: true}, ChooseShared},
	{"tcp", facts{room: -1, short: tcpShort}, Choose},
}

// decide returns the path of an operation on blocks, or a vector, of so many bytes, which
// has to be the same at all ranks.
func (b *testbed) decide(t *testing.T, k Kind, size, bytes int, alloc bool) Path {
	t.Helper()
	var paths []Path
	for rank := range size {
		x := NewExecutor(rank, size, nil, nil)
		x.facts, x.searched = b.facts, true
		if size > 2 {
			x.short = -1
		}
		s := Spec{Kind: k, Rank: rank, Size: size, Count: bytes / 4, Separate: k.Blocks()}
		paths = append(paths, x.Decide(s.ResolveWith(4, b.choose), reduce.F32, alloc))
	}
	if paths := slices.Compact(paths); len(paths) > 1 {
		t.Errorf("%s: ranks take different paths for %v of %d bytes: %v", b.fabric, k, bytes, paths)
	}
	return paths[0]
}

// A pathRange is a path, and the longest of the powers of two for which it is taken.
type pathRange struct {
	path Path
	most int
}

const leastBytes, mostBytes = 8, 64 << 20

// ranges returns the paths of an operation from the shortest to the longest.
func (b *testbed) ranges(t *testing.T, k Kind, size int, alloc bool) (rs []pathRange) {
	t.Helper()
	if k == Barrier {
		return []pathRange{{b.decide(t, k, size, 0, alloc), mostBytes}}
	}
	for bytes := leastBytes; bytes <= mostBytes; bytes *= 2 {
		p := b.decide(t, k, size, bytes, alloc)
		if n := len(rs); n > 0 && rs[n-1].path == p {
			rs[n-1].most = bytes
			continue
		}
		rs = append(rs, pathRange{p, bytes})
	}
	return rs
}

// describe writes ranges as in "board to 16 KiB, then round trip".
func describe(rs []pathRange) string {
	var b strings.Builder
	for i, r := range rs {
		if i > 0 {
			b.WriteString(", then ")
		}
		b.WriteString(r.path.String())
		if r.most < mostBytes {
			fmt.Fprintf(&b, " to %s", byteCount(r.most))
		}
	}
	return b.String()
}

func byteCount(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// pathTable returns the table in Markdown. Operations with the same paths share lines, as
// do numbers of ranks.
func pathTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| fabric | operation | ranks | buffers | path by size |\n|---|---|---|---|---|\n")
	for i := range testbeds {
		bed := &testbeds[i]
		lines, order := map[string][]string{}, []string{} // operations by their lines
		for k := AllReduce; k <= Barrier; k++ {
			l := bed.lines(t, k)
			if lines[l] == nil {
				order = append(order, l)
			}
			lines[l] = append(lines[l], k.String())
		}
		for _, l := range order {
			for line := range strings.Lines(l) {
				fmt.Fprintf(&b, "| %s | %s | %s", bed.fabric, strings.Join(lines[l], ", "), line)
			}
		}
	}
	return b.String()
}

// lines returns the lines of one operation, from the number of ranks on.
func (b *testbed) lines(t *testing.T, k Kind) string {
	t.Helper()
	ranks, order := map[string][]string{}, []string{} // by the rest of the line
	add := func(size int, buffers string, rs []pathRange) {
		rest := fmt.Sprintf("%s | %s |\n", buffers, describe(rs))
		if ranks[rest] == nil {
			order = append(order, rest)
		}
		ranks[rest] = append(ranks[rest], fmt.Sprint(size))
	}
	for _, size := range []int{2, 4, 8} {
		ordinary, alloc := b.ranges(t, k, size, false), b.ranges(t, k, size, true)
		if slices.Equal(ordinary, alloc) {
			add(size, "any", ordinary)
			continue
		}
		add(size, "ordinary", ordinary)
		add(size, "Alloc", alloc)
	}
	var out strings.Builder
	for _, rest := range order {
		fmt.Fprintf(&out, "%s | %s", strings.Join(ranks[rest], ", "), rest)
	}
	return out.String()
}

// TestPathTable compares the table in ARCHITECTURE.md with what is decided. With -update
// it writes it there.
func TestPathTable(t *testing.T) {
	const file = "../../ARCHITECTURE.md"
	const begin, end = "<!-- path table: go test ./internal/collective -run TestPathTable -update -->\n", "<!-- end of path table -->\n"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(doc), begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", file)
	}
	want := pathTable(t)
	switch {
	case got == want:
	case *update:
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table in %s differs from what is decided; run the test with -update. It should be\n%s", file, want)
	}
}
