package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// renamed keeps the old name of a flag of cmd working. The help omits it, and its use
// prints the new name on standard error.
func renamed(cmd *cobra.Command, old, name string) {
	fs := cmd.Flags()
	now := fs.Lookup(name)
	fs.AddFlag(&pflag.Flag{
		Name: old, Usage: "the old name of --" + name, Hidden: true,
		Value: &oldFlag{Value: now.Value, cmd: cmd, old: old, name: name}, DefValue: now.DefValue, NoOptDefVal: now.NoOptDefVal,
	})
}

// An oldFlag sets the flag under its new name.
type oldFlag struct {
	pflag.Value
	cmd       *cobra.Command
	old, name string
}

func (f *oldFlag) Set(text string) error {
	fmt.Fprintf(f.cmd.ErrOrStderr(), "%s: --%s is now called --%s\n", f.cmd.CommandPath(), f.old, f.name)
	return f.cmd.Flags().Set(f.name, text)
}
