package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"thundercollective/internal/bench"
	"thundercollective/internal/env"

	"github.com/spf13/cobra"
)

type envFlags struct {
	json, all bool
}

func newEnvCmd() *cobra.Command {
	f := &envFlags{}
	cmd := &cobra.Command{
		Use:   "env",
		Short: "List the environment variables, their values and meanings",
		Long: `env lists the environment variables that thunder, the library and its bindings
read: the value that each has here, where it comes from (the environment, the
default, or the launcher that started this process), and what it means. Secrets
are not printed. Flags and options of a program take precedence over variables.

A variable that has an invalid value or is misspelt is marked with an exclamation
mark.

Exit status: 0 if all variables are valid, 2 if one is not.`,
		Example: `  # what is set here, and what can be
  thunder env

  # what the ranks of a job get
  thunder launch -n 2 thunder env

  # for a script: the value of one variable
  thunder env --json | jq -r '.variables[] | select(.name == "THUNDER_FABRIC").value'`,
		Args: cobra.NoArgs,
		RunE: coded(func(cmd *cobra.Command, _ []string) error { return f.run(cmd.OutOrStdout(), os.Environ()) }),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&f.all, "all", false, "also list variables for the project's own parts and tests")
	fs.BoolVar(&f.json, "json", false, "print the list as JSON")
	return cmd
}

// run prints the variables. If one is invalid, it returns a usage error.
func (f *envFlags) run(w io.Writer, environ []string) error {
	list, wrong := env.Survey(environ)
	var shown []env.Setting
	for _, s := range list {
		if f.all || !s.Hidden || s.Problem != "" {
			shown = append(shown, s)
		}
	}
	if err := f.print(w, shown); err != nil {
		return err
	}
	if wrong != nil {
		return &usageError{wrong}
	}
	return nil
}

func (f *envFlags) print(w io.Writer, list []env.Setting) error {
	if f.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(struct {
			Variables []env.Setting `json:"variables"`
		}{list})
	}
	_, err := io.WriteString(w, envTable(list, bench.Color(colourful(w))))
	return err
}

// envTable returns the table for people, with a section for each part of the project that
// reads variables.
func envTable(list []env.Setting, color bench.Color) string {
	names, values := 0, 0
	for _, s := range list {
		names = max(names, len(s.Name))
		values = max(values, min(len(s.Value), maxEnvValue))
	}
	var b strings.Builder
	row := func(mark, name, value, source, about string) {
		fmt.Fprintf(&b, "%s %-*s  %-*s  %-11s  %s\n", mark, names, name, values, value, source, about)
	}
	row(" ", "variable", "value", "from", "meaning")
	var part env.Part
	for i, s := range list {
		if i == 0 || s.Part != part {
			part = s.Part
			heading := string(part)
			if part == "" {
				heading = "unknown"
			}
			fmt.Fprintf(&b, "\n%s\n", color.Bold(heading))
		}
		mark, about := " ", s.About
		if s.SetAs != "" {
			about += " (set as " + s.SetAs + ", its old name)"
		}
		if s.Problem != "" {
			mark, about = color.Bad("!"), color.Bad(s.Problem)
		}
		row(mark, s.Name, strings.ReplaceAll(s.Value, "\n", " "), string(s.Source), about)
	}
	return b.String()
}

// maxEnvValue limits the width of the column of values; longer values extend beyond it.
const maxEnvValue = 40
