package main

import (
	"fmt"

	"thundercollective/internal/bench"

	"github.com/spf13/cobra"
)

// rootFlags are the flags of the root command itself. Without a verb, thunder is one rank
// that measures one mode at one size over TCP, and each rank prints its own result. The
// first program of this project worked like this.
type rootFlags struct {
	mode string
	join joinFlags
	work workFlags
	json bool
}

func (f *rootFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	f.join.add(fs)
	fs.StringVar(&f.mode, "mode", string(bench.PingPong), "`MODE` to measure, as in 'thunder bench'")
	f.work.addCommon(fs)
	renamed(cmd, "apart", "barrier-each")
	fs.StringVar(&f.work.size, "size", "64MiB", "message `SIZE`: bytes, or with KiB, MiB, GiB")
	fs.BoolVar(&f.json, "json", false, "print the result as JSON")
	completeModes(cmd)
	f.work.complete(cmd)
}

// run measures one mode at one size as one rank. Unlike in bench, each rank prints its own
// result.
func (f *rootFlags) run(cmd *cobra.Command) error {
	fs := cmd.Flags()
	cfg, err := f.work.config(fs, f.mode, "tcp")
	if err != nil {
		return err
	}
	comm, err := f.join.toMeasure(cmd, &f.work, cfg)
	if err != nil {
		return err
	}
	defer comm.Close()
	var rows []bench.Row
	err = bench.Run(cmd.Context(), comm, cfg, func(row bench.Row) { rows = append(rows, row) })
	if err != nil {
		return err
	}
	for _, row := range rows {
		if f.json {
			err = row.WriteJSON(cmd.OutOrStdout())
		} else {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), sentence(row))
		}
		if err != nil {
			return err
		}
	}
	return wrongError(rows)
}

// sentence describes a single row in one line.
func sentence(r bench.Row) string {
	s := fmt.Sprintf("rank %d of %d: %s of %s x %d", r.Rank, r.WorldSize, r.Mode, bench.FormatSize(float64(r.SizeBytes)), r.Iters)
	if r.Alone {
		s += ": alone, it sends nothing, so nothing is measured"
	} else {
		s += fmt.Sprintf(" in %.3g s: %s both ways, %s each (p99 %s)",
			r.ElapsedSecs, bench.FormatRate(r.GBps), bench.FormatMicros(r.Lat.P50), bench.FormatMicros(r.Lat.P99))
	}
	if r.FinalValue != nil {
		s += fmt.Sprintf(", first value %v", *r.FinalValue)
	}
	if r.Wrong != nil {
		s += fmt.Sprintf(", %d wrong in %d checked iterations", *r.Wrong, r.Checked)
	}
	return s
}
