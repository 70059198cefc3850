package env

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestTable checks that every variable is described, and only once.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range All() {
		switch {
		case seen[v.Name]:
			t.Errorf("%s is there twice", v.Name)
		case !strings.HasPrefix(v.Name, Prefix) || v.Part == "":
			t.Errorf("%s has another prefix or no part", v.Name)
		case v.About == "" || len(v.About) > 80 || strings.ContainsAny(v.About, "\n") || strings.HasSuffix(v.About, "."):
			t.Errorf("%s: %q is not a meaning in one line", v.Name, v.About)
		case v.Kind == Choice && len(v.Choices) < 2:
			t.Errorf("%s leaves no choice", v.Name)
		case v.Part == Tests && !v.Hidden:
			t.Errorf("%s is for tests, but is not hidden", v.Name)
		}
		if v.Kind == Bool && v.Default != "" && v.Default != "0" {
			t.Errorf("%s: a variable that is not set is false", v.Name)
		}
		seen[v.Name] = true
	}
}

// TestCheck gives values of each kind.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		v          Var
		good, bad  []string
		complained string // about the first bad one
	}{
		{Var{Name: "X", Kind: Text}, []string{"anything"}, nil, ""},
		{Var{Name: "X", Kind: Bool}, []string{"1", "0", "true"}, []string{"perhaps", " "}, `X is "perhaps": give 1 or 0`},
		{Var{Name: "X", Kind: Number, Max: 9}, []string{"0", "9"}, []string{"10", "-1", "x", "1.5"}, `X is "10": give a number from 0 to 9`},
		{Var{Name: "X", Kind: Number, Min: 5}, []string{"5", "1000000"}, []string{"4"}, `X is "4": give a number, 5 or more`},
		{Var{Name: "X", Kind: Duration}, []string{"90s", "1m30s", "90", "0.5"}, []string{"soon", "0", "-1s", "inf"},
			`X is "soon": give a positive duration such as 90s or 1m30s; a number alone is seconds`},
		{Var{Name: "X", Kind: Choice, Choices: []string{"a", "b", "c"}}, []string{"a", "C"}, []string{"d"}, `X is "d": give a, b or c`},
		{Var{Name: "X", Kind: Address}, []string{"h:1", "[::1]:2"}, []string{"h", "h:", "1"}, `X is "h": write host:port`},
		{Var{Name: "X", Kind: Addresses}, []string{"h:1", "h:1, i:2"}, []string{"h:1,i"}, `X is "h:1,i": write host:port, and several with commas`},
		{Var{Name: "X", Kind: Listen}, []string{"9400", "0.0.0.0:9400"}, []string{"warp", "70000"}, `X is "warp": give a port, or host:port`},
		{Var{Name: "X", Kind: List}, []string{"a", "a,b"}, []string{"a,,b", ","}, `X is "a,,b": give names with commas between them`},
		{Var{Name: "X", Kind: PortsKind}, []string{"7000-7099", "7000"}, []string{"7099-7000", "0-9", "7000-", "70000", "x"},
			`X is "7099-7000": give the first and the last port, as in 7000-7099`},
		{Var{Name: "X", Kind: Secret}, []string{"s"}, []string{" "}, `X: is blank; set a secret or unset it`},
	} {
		for _, text := range tt.good {
			if err := tt.v.Check(text); err != nil {
				t.Errorf("%v: %v", tt.v.Kind, err)
			}
		}
		for i, text := range tt.bad {
			err := tt.v.Check(text)
			var e *Error
			if !errors.As(err, &e) || e.Name != "X" || i == 0 && err.Error() != tt.complained {
				t.Errorf("%v, %q: got %v, want %s", tt.v.Kind, text, err, tt.complained)
			}
		}
	}
}

func TestReader(t *testing.T) {
	vars := map[string]string{
		Rank: "3", Timeout: "2m", Fabric: "TCP", Checksum: "1", RDMADevices: "a,b", Token: "s", Segment: "many", StartTimeout: "soon",
	}
	r := &Reader{Getenv: func(name string) string { return vars[name] }}
	if r.IntOr(Rank, -1) != 3 || r.IntOr(LocalRank, -1) != -1 || r.Duration(Timeout) != 2*time.Minute || r.Choice(Fabric) != "tcp" ||
		!r.Bool(Checksum) || r.Bool(Insecure) || len(r.List(RDMADevices)) != 2 || r.Text(Token) != "s" || r.Text(Edges) != "" {
		t.Error("a variable was not read as it is set")
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	if r.Int(Segment) != 0 || r.Duration(StartTimeout) != 0 {
		t.Error("a bad value counts")
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), Segment) || !strings.Contains(err.Error(), StartTimeout) {
		t.Errorf("got %v, want both bad variables named", err)
	}
	for name, read := range map[string]func(){
		"unknown": func() { r.Text("THUNDER_") }, "kind": func() { r.Int(Timeout) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			read()
		}()
	}
}
