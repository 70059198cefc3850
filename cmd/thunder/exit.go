package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	thunder "thundercollective"
	"thundercollective/internal/env"
	"thundercollective/internal/rendezvous"

	"github.com/spf13/cobra"
)

// Exit codes of every verb. A verb that passes on the code of a program it ran
// says so in its help.
const (
	exitOK     = 0
	exitFailed = 1 // the work was begun and failed, or its result is wrong
	exitUsage  = 2 // the command line or an input file is not right
)

// A usageError says that the command line is not right, and what would be.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// A failure is an error of the work itself, as opposed to one of the command
// line.
type failure struct {
	code int
	err  error // nil when everything there is to say was said
}

func (e *failure) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *failure) Unwrap() error { return e.err }

// working wraps the function behind a verb. It refuses to run in an environment with
// misspelt variables, whether or not the verb would use them, and sorts errors as coded.
func working(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return coded(func(cmd *cobra.Command, args []string) error {
		if _, err := env.Names(os.Environ()); err != nil {
			return &usageError{err}
		}
		return run(cmd, args)
	})
}

// coded wraps the function behind a verb so that its errors, unless they are
// about usage or carry a code already, count as failures. What cobra itself
// complains about never gets here and is about usage.
func coded(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		var usage *usageError
		var fail *failure
		switch {
		case err == nil || errors.As(err, &usage) || errors.As(err, &fail):
			return err
		case badInput(err):
			return &usageError{err}
		}
		return &failure{exitFailed, err}
	}
}

// badInput reports whether an error is about what the library was given: by flags, by
// variables or in a hostfile.
func badInput(err error) bool {
	_, option := errors.AsType[*thunder.OptionError](err)
	_, variable := errors.AsType[*env.Error](err)
	_, config := errors.AsType[*rendezvous.ConfigError](err)
	_, addr := errors.AsType[*rendezvous.AddrError](err)
	_, file := errors.AsType[*rendezvous.HostfileError](err)
	_, exposed := errors.AsType[*rendezvous.ExposureError](err)
	return option || variable || config || addr || file || exposed
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCmd()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	var fail *failure
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && !(errors.As(err, &fail) && fail.err == nil):
		fmt.Fprintf(stderr, "%s: interrupted\n", cmd.CommandPath())
		return exitFailed
	case errors.As(err, &fail):
		if fail.err != nil {
			fmt.Fprintf(stderr, "%s: %s\n", cmd.CommandPath(), message(fail.err))
		}
		return fail.code
	default:
		fmt.Fprintf(stderr, "%s: %s\nRun '%s --help' for what it takes.\n", cmd.CommandPath(), message(err), cmd.CommandPath())
		return exitUsage
	}
}

// message is the text of an error without the name of the library, which the
// command's own name in front of it says already.
func message(err error) string {
	return strings.ReplaceAll(err.Error(), "thunder: ", "")
}
