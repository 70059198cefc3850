package main

import (
	"fmt"
	"strings"

	"thundercollective/bench"
)

// explanation is what --explain and --idle add to a report: why each row took what
// it took, as far as the model knows.
func explanation(rows []bench.Row) string {
	var b strings.Builder
	for i, row := range rows {
		if row.WaitCPU != nil {
			fmt.Fprintf(&b, "# The waiting rank used %.3f %% of a processor over %.1f s\n", *row.WaitCPU, row.ElapsedSecs)
		}
		if row.Model == nil || row.Predicted == nil {
			continue
		}
		if i == 0 {
			m := row.Model
			fmt.Fprintf(&b, "#\n# Predicted from a message of %.2f µs, %.2f GB/s, and reducing at %.1f GB/s:\n", m.Alpha, perMicro(m.Beta), perMicro(m.Gamma))
			fmt.Fprintf(&b, "# %12s %7s %14s %14s %8s\n", "size", "algo", "predicted (us)", "measured (us)", "ratio")
		}
		fmt.Fprintf(&b, "# %12d %7s %14.2f %14.2f %8.2f\n", row.SizeBytes, row.Algo, *row.Predicted, row.Lat.P50, row.Lat.P50/(*row.Predicted))
	}
	return b.String()
}

// perMicro turns µs for 1000 bytes into GB/s.
func perMicro(cost float64) float64 {
	if cost == 0 {
		return 0
	}
	return 1 / cost
}
