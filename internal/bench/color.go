package bench

// Color adds terminal colours to text if it is true, and returns text unchanged if false.
type Color bool

func (i Color) in(code, s string) string {
	if !i {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Bold is for headings.
func (i Color) Bold(s string) string { return i.in("1", s) }

// Dim is for less important text.
func (i Color) Dim(s string) string { return i.in("2", s) }

// Good is for success.
func (i Color) Good(s string) string { return i.in("32", s) }

// Bad is for failure.
func (i Color) Bad(s string) string { return i.in("31;1", s) }
