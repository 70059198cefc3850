package env

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Prefix is what the names of all variables begin with.
const Prefix = "THUNDER_"

// A Kind is what a variable holds.
type Kind uint8

// The kinds of variables.
const (
	Text      Kind = iota
	Bool           // 1 or 0, and what else strconv.ParseBool takes
	Number         // a whole number from Min to Max
	Duration       // a positive duration: 90s, 1m30s, or 90 for seconds
	Choice         // one of Choices, in any case
	Address        // host:port
	Addresses      // host:port, several with commas
	Listen         // host:port, or a port on loopback
	List           // words with commas
	Path           // a file or a folder
	Secret         // text that is never shown
	PortsKind      // a port, or the first and the last of several: 7000-7099
)

var kinds = [...]string{"text", "bool", "number", "duration", "choice", "address", "addresses", "listen", "list", "path", "secret", "ports"}

func (k Kind) String() string { return kinds[k] }

// A Part is what uses a variable.
type Part string

// The parts, in the order in which 'thunder env' prints them.
const (
	Join        Part = "join"        // who this rank is and how it meets the others
	Security    Part = "security"    // who may take part
	Failures    Part = "failures"    // how long to wait, and for whom
	Transport   Part = "transport"   // what carries messages
	Tuning      Part = "tuning"      // how operations are carried out
	Diagnostics Part = "diagnostics" // what can be seen of a job
	Launch      Part = "launch"      // between the launcher and its ranks
	Python      Part = "python"      // the Python package and its build
	Tests       Part = "tests"       // the project's own tests
)

// A Var describes one variable.
type Var struct {
	Name    string
	Old     string // the name that it had before; it counts if the new one is not set
	Part    Part
	Kind    Kind
	Default string // in words where it is not a value; "" for none
	About   string // its meaning in one line

	Choices  []string // of a Choice
	Min, Max int64    // of a Number; no upper bound if Max is 0

	Launcher bool // 'thunder launch' sets it for its ranks
	Hidden   bool // for this project's own parts and tests
}

// An Error says that a variable has a value that it cannot have.
type Error struct {
	Name  string
	Value string // "" if it is a secret, or not what is wrong
	Want  string // what is wrong, or would be right
	Err   error  // what using the value gave; else nil
}

func (e *Error) Error() string {
	if e.Value == "" {
		return e.Name + ": " + e.Want
	}
	return fmt.Sprintf("%s is %q: %s", e.Name, e.Value, e.Want)
}

func (e *Error) Unwrap() error { return e.Err }

// from returns the value of v, and the name under which it is set; "" if it is not.
func (v *Var) from(getenv func(string) string) (name, text string) {
	if text := getenv(v.Name); text != "" {
		return v.Name, text
	}
	if v.Old != "" {
		if text := getenv(v.Old); text != "" {
			return v.Old, text
		}
	}
	return "", ""
}

// named returns v under the name by which it is set, for errors about it.
func (v *Var) named(name string) *Var {
	n := *v
	n.Name = name
	return &n
}

// bad returns the error about a value of v.
func (v *Var) bad(value string) error {
	if v.Kind == Secret {
		value = ""
	}
	return &Error{Name: v.Name, Value: value, Want: v.want()}
}

// want says what v takes.
func (v *Var) want() string {
	switch v.Kind {
	case Bool:
		return "give 1 or 0"
	case Number:
		if v.Max == 0 {
			return fmt.Sprintf("give a number, %d or more", v.Min)
		}
		return fmt.Sprintf("give a number from %d to %d", v.Min, v.Max)
	case Duration:
		return "give a positive duration such as 90s or 1m30s; a number alone is seconds"
	case Choice:
		last := len(v.Choices) - 1
		return "give " + strings.Join(v.Choices[:last], ", ") + " or " + v.Choices[last]
	case Address:
		return "write host:port"
	case Addresses:
		return "write host:port, and several with commas"
	case Listen:
		return "give a port, or host:port"
	case List:
		return "give names with commas between them"
	case Secret:
		return "is blank; set a secret or unset it"
	case PortsKind:
		return "give the first and the last port, as in 7000-7099"
	}
	return "give a text"
}

// Check returns an *Error if text is not a value of v. Whether a file can be read or an
// address be reached is for its user to find out.
func (v *Var) Check(text string) error {
	ok := true
	switch v.Kind {
	case Bool:
		_, err := strconv.ParseBool(text)
		ok = err == nil
	case Number:
		_, err := v.Number(text)
		return err
	case Duration:
		_, err := v.duration(text)
		return err
	case Choice:
		ok = slices.Contains(v.Choices, strings.ToLower(text))
	case Address:
		ok = isAddress(text)
	case Addresses:
		for addr := range strings.SplitSeq(text, ",") {
			ok = ok && isAddress(strings.TrimSpace(addr))
		}
	case Listen:
		_, err := strconv.ParseUint(text, 10, 16)
		ok = err == nil || isAddress(text)
	case List:
		ok = !slices.Contains(strings.Split(text, ","), "")
	case Secret:
		ok = strings.TrimSpace(text) != ""
	case PortsKind:
		_, ok = parsePorts(text)
	}
	if !ok {
		return v.bad(text)
	}
	return nil
}

// Number parses the value of a Number.
func (v *Var) Number(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < v.Min || v.Max != 0 && n > v.Max {
		return 0, v.bad(text)
	}
	return n, nil
}

func (v *Var) duration(text string) (time.Duration, error) {
	given := text
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, v.bad(given)
	}
	return d, nil
}

func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	return err == nil && port != ""
}
