package bench

// Ink colours text for a terminal when it is true, and leaves it as it is when
// false.
type Ink bool

func (i Ink) in(code, s string) string {
	if !i {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Bold is for headings.
func (i Ink) Bold(s string) string { return i.in("1", s) }

// Dim is for what may be overlooked.
func (i Ink) Dim(s string) string { return i.in("2", s) }

// Good is for what is as it should be.
func (i Ink) Good(s string) string { return i.in("32", s) }

// Bad is for what is not.
func (i Ink) Bad(s string) string { return i.in("31;1", s) }
