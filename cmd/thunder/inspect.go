package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"thundercollective/internal/inspect"

	"github.com/spf13/cobra"
)

type inspectFlags struct {
	json        bool
	html, trace string
}

func newInspectCmd() *cobra.Command {
	f := &inspectFlags{}
	cmd := &cobra.Command{
		Use:   "inspect DIR|FILE|HOST:PORT ...",
		Short: "Find out what went wrong, from the ranks' flight recorders",
		Long: `inspect merges the flight recorders of a job's ranks and reports in one line which
rank was late, is missing or called a different operation, or which ranks wait for
each other in Send and Recv. It then prints a table of the ranks, and optionally
writes a timeline.

Ranks dump their flight recorders to the directory in THUNDER_DUMP_DIR when a group
fails, and on SIGUSR1. A running rank serves its recorder at the address in its
THUNDER_METRICS; ranks that do not answer within 2 seconds are named.

Exit status: 0 if nothing is wrong with the job; 1 if something is, if a rank is
missing or has waited for longer than a second, or if the dumps cannot be read; 2 if
the command line is invalid.`,
		Example: `  # run a job with dumps, and inspect them
  THUNDER_DUMP_DIR=/tmp/flight thunder launch -n 4 ./train
  thunder inspect /tmp/flight

  # a picture, and a trace for ui.perfetto.dev
  thunder inspect /tmp/flight --html flight.html --trace flight.json

  # ranks that are still running
  thunder inspect localhost:9400 localhost:9401`,
		Args: cobra.ArbitraryArgs,
		RunE: working(func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) }),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&f.json, "json", false, "print the report as JSON")
	fs.StringVar(&f.html, "html", "", "write an HTML page with a timeline to `FILE`")
	fs.StringVar(&f.trace, "trace", "", "write a trace for Perfetto or chrome://tracing to `FILE`")
	return cmd
}

func (f *inspectFlags) run(cmd *cobra.Command, sources []string) error {
	if len(sources) == 0 {
		return usagef("name the dumps: a directory, files, or the host:port of running ranks")
	}
	if err := cmp.Or(writable("--html", f.html), writable("--trace", f.trace)); err != nil {
		return err
	}
	dumps, err := inspect.Load(cmd.Context(), sources)
	var unanswered []string
	if silent, ok := errors.AsType[*inspect.UnansweredError](err); ok && len(dumps) > 0 {
		unanswered, err = silent.Addrs, nil
	}
	if err != nil {
		return err
	}
	r, err := inspect.Examine(dumps, unanswered...)
	if err != nil {
		return err
	}
	if err := f.show(cmd.OutOrStdout(), r); err != nil {
		return err
	}
	for path, write := range map[string]func(io.Writer) error{f.html: r.WriteTimeline, f.trace: r.WriteTrace} {
		if err := writeTo(path, write); err != nil {
			return err
		}
	}
	if !r.Healthy {
		return &failure{code: exitFailed}
	}
	return nil
}

func (f *inspectFlags) show(w io.Writer, r *inspect.Report) error {
	if f.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	fmt.Fprintf(w, "%s\n\n", r.Verdict)
	return r.WriteTable(w)
}

// writeTo writes a file, or nothing if path is "".
func writeTo(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
