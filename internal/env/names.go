package env

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// An UnknownError says that a variable is most likely misspelt.
type UnknownError struct {
	Name string
	Like string // the variable that was probably meant
}

func (e *UnknownError) Error() string {
	return e.Name + " is no variable of thunder; did you mean " + e.Like + "?"
}

// serviceLink matches what Kubernetes sets in every pod for a service whose name begins
// with "thunder".
var serviceLink = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// Names looks in environ, which is that of os.Environ, for names that begin with Prefix
// and are not in the table. The error holds an *UnknownError for each that is nearly the
// name of a variable. The others are returned as strangers, in order: another program may
// use them. What is set to the empty string, and what Kubernetes sets, does not count.
func Names(environ []string) (strangers []string, err error) {
	var errs []error
	for _, kv := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, Prefix) || value == "" || Lookup(name) != nil || serviceLink.MatchString(name) {
			continue
		}
		if like := nearest(name); like != "" {
			errs = append(errs, &UnknownError{name, like})
		} else {
			strangers = append(strangers, name)
		}
	}
	return strangers, errors.Join(errs...)
}

// Renamed returns the variables that are set by an old name alone, as pairs of the old and
// the new one.
func Renamed(getenv func(string) string) (pairs [][2]string) {
	for i := range table {
		v := &table[i]
		if set, _ := v.from(getenv); set != "" && set != v.Name {
			pairs = append(pairs, [2]string{set, v.Name})
		}
	}
	return pairs
}

// nearest returns the variable whose name differs from name by the fewest typing mistakes:
// at most two, or one if it is short. It returns "" if there is none.
func nearest(name string) string {
	like, least := "", 3
	for known, v := range byName {
		allowed := 2
		if len(known) <= len(Prefix)+4 {
			allowed = 1
		}
		// The map has no order: of names that are as near, the first in the alphabet.
		if d := distance(name, known); d <= allowed && (d < least || d == least && v.Name < like) {
			like, least = v.Name, d
		}
	}
	return like
}

// distance returns how many letters have to be inserted, removed or replaced, or swapped
// with the next one, to make b of a (Damerau and Levenshtein).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
