package main

import (
	"fmt"
	"strconv"
	"strings"

	thunder "thundercollective"
	"thundercollective/internal/bench"
)

// explanation returns what --explain and --idle add to a report: the prediction of the
// model for each row.
func explanation(rows []bench.Row) string {
	var b strings.Builder
	unknown := false
	for i, row := range rows {
		if row.WaitCPU != nil {
			fmt.Fprintf(&b, "# The waiting rank used %.3f %% of a processor over %.1f s\n", *row.WaitCPU, row.ElapsedSecs)
		}
		if row.Model == nil {
			continue
		}
		if i == 0 {
			m := row.Model
			fmt.Fprintf(&b, "#\n# Predicted from %s, and reducing at %.1f GB/s%s:\n", describeLinks(m), perMicro(m.Gamma), describeCrowd(rows))
			fmt.Fprintf(&b, "# %12s %9s %9s %8s %14s %14s %8s\n", "size", "algo", "segment", "streams", "predicted (us)", "measured (us)", "ratio")
		}
		if row.Predicted == nil {
			unknown = true
			fmt.Fprintf(&b, "# %12d %9s %9s %8s %14s %14.2f %8s\n", row.SizeBytes, row.Algo, "-", "-", "-", row.Lat.P50, "-")
			continue
		}
		fmt.Fprintf(&b, "# %12d %9s %9d %8s %14.2f %14.2f %8.2f\n", row.SizeBytes, row.Algo, row.Segment, streamsOf(row), *row.Predicted, row.Lat.P50, row.Lat.P50/(*row.Predicted))
	}
	if unknown {
		b.WriteString("# Predictions are for algorithms that send messages; rows without a prediction send none (see thunder bench --help).\n")
	}
	return b.String()
}

// describeLinks describes the cost of messages.
func describeLinks(m *thunder.Model) string {
	s := fmt.Sprintf("a message of %.2f µs, %.2f GB/s", m.Alpha, perMicro(m.Beta))
	if m.Local != nil {
		s += fmt.Sprintf(" between hosts and %.2f µs, %.2f GB/s within one", m.Local.Alpha, perMicro(m.Local.Beta))
	}
	return s
}

// describeCrowd describes the factor on the prediction if ranks share cores.
func describeCrowd(rows []bench.Row) string {
	for _, row := range rows {
		if row.Crowding > 0 {
			return fmt.Sprintf(", times %.3g for that many ranks on each core", row.Crowding)
		}
	}
	return ""
}

// streamsOf returns the number of TCP streams to a peer, or "-" if there are none.
func streamsOf(row bench.Row) string {
	if !strings.Contains(row.Fabric, "tcp") {
		return "-"
	}
	return strconv.Itoa(row.Streams)
}

// perMicro converts µs for 1000 bytes to GB/s.
func perMicro(cost float64) float64 {
	if cost == 0 {
		return 0
	}
	return 1 / cost
}
