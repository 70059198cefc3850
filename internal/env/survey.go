package env

import (
	"errors"
	"strings"

	"thundercollective/internal/plural"
)

// A Source is where the value of a variable comes from.
type Source string

// The sources.
const (
	NotSet      Source = "not set" // and there is no default
	FromDefault Source = "default"
	Environment Source = "environment"
	Launcher    Source = "launcher"
)

// A Setting is a variable as it is in some environment.
type Setting struct {
	Name    string `json:"name"`
	Value   string `json:"value"` // the default if it is not set; of a secret, its length alone
	Source  Source `json:"source"`
	Kind    string `json:"kind,omitempty"`
	Part    Part   `json:"part,omitempty"` // "" if it is no variable of ours
	About   string `json:"about,omitempty"`
	Hidden  bool   `json:"hidden,omitempty"`
	SetAs   string `json:"set_as,omitempty"`  // its old name, if that is the one that is set
	Problem string `json:"problem,omitempty"` // what is wrong with it
}

// Survey returns all variables of the table as they are in environ, and then those that
// are set and look like ours, but are not. The error is what is wrong with them, an *Error
// or *UnknownError for each Problem.
func Survey(environ []string) ([]Setting, error) {
	vars := map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if _, again := vars[name]; !again { // os.Getenv returns the first
			vars[name] = value
		}
	}
	var list []Setting
	var errs []error
	for _, v := range table {
		s := Setting{Name: v.Name, Value: v.Default, Source: FromDefault, Kind: v.Kind.String(), Part: v.Part, About: v.About, Hidden: v.Hidden}
		if v.Default == "" {
			s.Source = NotSet
		}
		if set, text := v.from(func(name string) string { return vars[name] }); text != "" {
			s.Value, s.Source = shown(&v, text), Environment
			if set != v.Name {
				s.SetAs = set
			}
			if v.Launcher && vars[LaunchID] != "" {
				s.Source = Launcher
			}
			if err := v.named(set).Check(text); err != nil {
				s.Problem = v.want()
				errs = append(errs, err)
			}
		}
		list = append(list, s)
	}
	strangers, err := Names(environ)
	for _, e := range parts(err) {
		var unknown *UnknownError
		if errors.As(e, &unknown) {
			list = append(list, Setting{Name: unknown.Name, Value: concealed(vars[unknown.Name]), Source: Environment, Problem: "did you mean " + unknown.Like + "?"})
			errs = append(errs, e)
		}
	}
	for _, name := range strangers {
		list = append(list, Setting{Name: name, Value: concealed(vars[name]), Source: Environment, About: "no variable of thunder; it has no effect"})
	}
	return list, errors.Join(errs...)
}

// shown is a value as it may be printed.
func shown(v *Var, text string) string {
	if v.Kind == Secret {
		return concealed(text)
	}
	return text
}

// concealed stands for a value that may be secret. What is misspelt may be, too.
func concealed(text string) string { return "set, " + plural.Count(len(text), "byte") }

// parts returns the errors that errors.Join has joined.
func parts(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return nil
}
