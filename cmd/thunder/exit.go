package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	thunder "thundercollective"
	"thundercollective/internal/env"
	"thundercollective/internal/rendezvous"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// Exit codes of every verb. A verb that returns the exit code of a program it ran documents
// that in its help.
const (
	exitOK     = 0
	exitFailed = 1 // the work failed, or its result is wrong
	exitUsage  = 2 // the command line or an input file is invalid
)

// A usageError reports that the command line is invalid, and what would be valid.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// A failure is an error of the work itself, as opposed to one of the command line.
type failure struct {
	code int
	err  error // nil if everything has been printed already
}

func (e *failure) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *failure) Unwrap() error { return e.err }

// working wraps the function of a verb. It fails if the environment contains misspelt
// variables, whether or not the verb uses them, or if there is too little address space, and
// classifies errors like coded.
func working(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return coded(func(cmd *cobra.Command, args []string) error {
		if _, err := env.Names(os.Environ()); err != nil {
			return &usageError{err}
		}
		if err := checkAddressSpace(0); err != nil {
			return err
		}
		return run(cmd, args)
	})
}

// coded wraps the function of a verb so that its errors count as failures, unless they are
// usage errors or have an exit code already. Errors of cobra itself do not pass through
// here; they are usage errors.
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

// badInput reports whether an error is about the input of the library: flags, variables or
// a hostfile.
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
	if out, ok := stdout.(*standardOutput); ok && err == nil && out.err != nil {
		err = &failure{exitFailed, fmt.Errorf("write to standard output: %w", out.err)}
	}
	var fail *failure
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && !(errors.As(err, &fail) && fail.err == nil):
		fmt.Fprintf(stderr, "%s: interrupted\n", cmd.CommandPath())
		return interruptCode(ctx)
	case errors.As(err, &fail):
		if fail.err != nil {
			fmt.Fprintf(stderr, "%s: %s\n", cmd.CommandPath(), message(fail.err))
		}
		return fail.code
	default:
		fmt.Fprintf(stderr, "%s: %s\nRun '%s --help' for usage.\n", cmd.CommandPath(), message(err), cmd.CommandPath())
		return exitUsage
	}
}

// An interruption is the cause of a context that a signal ended.
type interruption struct{ signal syscall.Signal }

func (i *interruption) Error() string { return "interrupted by " + unix.SignalName(i.signal) }

// interruptCode returns the exit code of a program that a signal ended, as shells report
// it: 130 after Ctrl-C.
func interruptCode(ctx context.Context) int {
	var by *interruption
	if errors.As(context.Cause(ctx), &by) {
		return 128 + int(by.signal)
	}
	return exitFailed
}

// message returns the text of an error without the name of the library, since the name of
// the command precedes it.
func message(err error) string {
	return strings.ReplaceAll(err.Error(), "thunder: ", "")
}
