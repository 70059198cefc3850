package handshake

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

func lists(texts ...string) *Roster {
	var lines []Line
	for i, text := range texts {
		lines = append(lines, Line{Name: fmt.Sprintf("rank %d is at", i), Fix: "fix it", Shape: fmt.Sprint(strings.Count(text, ",")), Text: text})
	}
	return NewRoster(lines)
}

// TestRosters: both ends say the same about the first line that differs.
func TestRosters(t *testing.T) {
	long := strings.Repeat("10.0.0.1:7000, ", 60)
	for _, tt := range []struct {
		name string
		a, b *Roster
		want string // "" if they agree
	}{
		{"same", lists("a", "b"), lists("a", "b"), ""},
		{"none", lists("a", "b"), nil, ""},
		{"second", lists("a", "b"), lists("a", "c"), "rank 1 is at b according to rank 2, but c according to rank 7; fix it"},
		{"first of two", lists("x", "b"), lists("a", "c"), "rank 0 is at x according to rank 2, but a according to rank 7; fix it"},
		{"moved", lists("a", "b"), lists("b", "a"), "rank 0 is at a according"},
		{"not told", lists("a", "b"), lists("a", ""), ""},
		{"number", lists("a", "b"), lists("a", ","), "rank 1 is at b according"},
		{"long", lists(long + "b"), lists(long + "c"), "rank 0 is at ..., b according to rank 2, but ..., c according"},
		{"longer than is sent", lists(long + long + "b"), lists(long + long + "c"), "rank 0 is at"},
		{"other make", lists("a"), lists("a", "b"), "nothing in common"},
		{"control characters", lists("a"), lists("\x1b[2J"), "[2J"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			agree := SumsAgree(tt.a.Sum(), tt.b.Sum())
			if agree != (tt.want == "") || agree != SumsAgree(tt.b.Sum(), tt.a.Sum()) {
				t.Fatalf("agree: %v", agree)
			}
			if agree {
				return
			}
			dialer, acceptor := net.Pipe()
			said := make(chan error)
			go func() { said <- tt.a.Answer(acceptor, 2, 7) }()
			here := tt.b.Compare(dialer, 7, 2)
			there := <-said
			if here.Error() != there.Error() || !strings.Contains(here.Error(), tt.want) || len(here.Error()) > 500 || strings.Contains(here.Error(), "\x1b") {
				t.Errorf("dialer: %v\nacceptor: %v", here, there)
			}
		})
	}
}

// TestRosterGarbage: an end that sends nonsense is an error, and takes no memory.
func TestRosterGarbage(t *testing.T) {
	for _, text := range []string{"", "\xff\xff\xff\xff", "\x00\x00\x00\x01", "\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\xff\xff"} {
		for name, end := range map[string]func(*Roster, net.Conn) error{
			"acceptor": func(r *Roster, c net.Conn) error { return r.Answer(c, 0, 1) },
			"dialer":   func(r *Roster, c net.Conn) error { return r.Compare(c, 1, 0) },
		} {
			a, b := net.Pipe()
			go func() {
				go func() {
					buf := make([]byte, 100)
					for {
						if _, err := a.Read(buf); err != nil {
							return
						}
					}
				}()
				a.Write([]byte(text))
				a.Close()
			}()
			if err := end(lists("x"), b); err == nil || !strings.Contains(err.Error(), "differ") {
				t.Errorf("%s, %q: %v", name, text, err)
			}
			b.Close()
		}
	}
}
