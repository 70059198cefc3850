package env

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Reader parses variables and collects what is wrong with them. Its methods panic for
// a name that is not in the table, or that is of another kind: that is a mistake in the
// program.
type Reader struct {
	Getenv func(string) string // os.Getenv if nil
	errs   []error
}

// Err returns what was wrong with the variables read so far, each an *Error.
func (r *Reader) Err() error { return errors.Join(r.errs...) }

// Fail adds an error about a variable that was read.
func (r *Reader) Fail(err error) {
	if err != nil {
		r.errs = append(r.errs, err)
	}
}

// value returns the variable, and its value if it is set to one that it can have.
func (r *Reader) value(name string, of ...Kind) (*Var, string) {
	v := Lookup(name)
	if v == nil {
		panic("env: " + name + " is not in the table")
	}
	is := false
	for _, k := range of {
		is = is || v.Kind == k
	}
	if !is {
		panic("env: " + name + " is read as another kind than " + v.Kind.String())
	}
	getenv := r.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	set, text := v.from(getenv)
	if text == "" {
		return v, ""
	}
	if err := v.named(set).Check(text); err != nil {
		r.Fail(err)
		return v, ""
	}
	return v, text
}

// On reports whether a variable of this process is set and true; it has been checked
// before.
func On(name string) bool { return (&Reader{}).Bool(name) }

// Text returns the value of a variable that needs no parsing; "" if it is not set.
func (r *Reader) Text(name string) string {
	_, text := r.value(name, Text, Address, Addresses, Listen, Path, Secret)
	return text
}

// Bool reports whether a variable is set and true.
func (r *Reader) Bool(name string) bool {
	_, text := r.value(name, Bool)
	on, _ := strconv.ParseBool(text)
	return on
}

// Int returns a number; 0 if it is not set.
func (r *Reader) Int(name string) int { return r.IntOr(name, 0) }

// IntOr returns a number; absent if it is not set.
func (r *Reader) IntOr(name string, absent int) int {
	v, text := r.value(name, Number)
	if text == "" {
		return absent
	}
	n, _ := v.Number(text)
	return int(n)
}

// Duration returns a duration; 0 if it is not set.
func (r *Reader) Duration(name string) time.Duration {
	v, text := r.value(name, Duration)
	d, _ := v.duration(text)
	return d
}

// Choice returns one of the variable's choices; "" if it is not set.
func (r *Reader) Choice(name string) string {
	_, text := r.value(name, Choice)
	return strings.ToLower(text)
}

// List returns the words of a list; nil if it is not set.
func (r *Reader) List(name string) []string {
	_, text := r.value(name, List)
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
