package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError makes a usage error of an error in a flag: it suggests flags similar to an
// unknown one, and says what a value should be like.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		name := unknown.GetSpecifiedName()
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if like := similar(name, names); len(like) > 0 {
			return usagef("unknown flag --%s; did you mean --%s?", name, strings.Join(like, " or --"))
		}
		return usagef("unknown flag --%s", name)
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if want := wanted(bad.GetFlag()); want != "" {
			return usagef("--%s: %q is not %s", bad.GetFlag().Name, bad.GetValue(), want)
		}
	}
	return &usageError{err}
}

// wanted describes the values of a flag, "" if its own error does.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a whole number"
	case "duration":
		return "a duration such as 90s or 5m"
	case "bool":
		return "true or false"
	}
	return ""
}

// similar returns the candidates that look like a misspelt name: the most similar ones, if
// few letters differ, or those that begin with it.
func similar(name string, candidates []string) []string {
	best, out := 2, []string(nil)
	if len(name) <= 3 {
		best = 1
	}
	for _, c := range candidates {
		switch d := letters(name, c); {
		case d < best:
			best, out = d, []string{c}
		case d == best:
			out = append(out, c)
		}
	}
	if out == nil {
		for _, c := range candidates {
			if len(name) > 1 && strings.HasPrefix(c, name) {
				out = append(out, c)
			}
		}
	}
	slices.Sort(out)
	return out
}

// letters returns how many letters have to be inserted, deleted, replaced, or exchanged
// with their neighbour to make b of a.
func letters(a, b string) int {
	dist := make([][]int, len(a)+1)
	for i := range dist {
		dist[i] = make([]int, len(b)+1)
		for j := range dist[i] {
			switch {
			case i == 0 || j == 0:
				dist[i][j] = i + j
			case a[i-1] == b[j-1]:
				dist[i][j] = dist[i-1][j-1]
			default:
				dist[i][j] = 1 + min(dist[i-1][j], dist[i][j-1], dist[i-1][j-1])
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					dist[i][j] = min(dist[i][j], 1+dist[i-2][j-2])
				}
			}
		}
	}
	return dist[len(a)][len(b)]
}

// unknownVerb returns an error that suggests verbs similar to an unknown one.
func unknownVerb(parent *cobra.Command, name string) error {
	var names []string
	for _, c := range parent.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	text := fmt.Sprintf("unknown command %q", name)
	if like := similar(name, names); len(like) > 0 {
		text += fmt.Sprintf("; did you mean '%s'?", strings.Join(like, "' or '"))
	}
	return usagef("%s", text)
}

// newHelpCmd returns the verb help, which fails for verbs that do not exist.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Describe a command",
		Long:    "help describes a command and its flags, like COMMAND --help.",
		Example: "  thunder help bench",
		ValidArgsFunction: func(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			for _, verb := range c.Root().Commands() {
				if verb.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(verb.Name(), verb.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: coded(func(c *cobra.Command, args []string) error {
			verb, rest, err := c.Root().Find(args)
			switch {
			case err != nil || verb == c.Root() && len(args) > 0:
				return unknownVerb(c.Root(), args[0])
			case len(rest) > 0 && !verb.HasSubCommands():
				return usagef("'%s' has no commands of its own, such as %q", verb.CommandPath(), rest[0])
			case len(rest) > 0:
				return unknownVerb(verb, rest[0])
			}
			verb.InitDefaultHelpFlag()
			return verb.Help()
		}),
	}
}

// completeShells makes the verb completion fail for shells that it does not know.
func completeShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Use = "completion SHELL"
		c.Short = "Print completions for a shell"
		c.Long = "completion prints a script that makes a shell complete verbs, flags and their values:\nbash, zsh, fish or powershell. 'thunder completion SHELL --help' tells where to put it."
		c.Example = "  source <(thunder completion bash)"
		c.Args = cobra.ArbitraryArgs
		c.RunE = coded(func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			var shells []string
			for _, s := range c.Commands() {
				shells = append(shells, s.Name())
			}
			return usagef("no completions for the shell %q; want one of %s", args[0], strings.Join(shells, " "))
		})
	}
}
