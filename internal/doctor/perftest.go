package doctor

import (
	"errors"
	"strconv"
	"strings"
)

// ParsePerftest parses the table of perftest's bandwidth tools with --report_gbits: size,
// iterations, peak, average, message rate.
func ParsePerftest(b []byte) ([]Row, error) {
	var out []Row
	inTable := false
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) > 0 && f[0] == "#bytes" {
			inTable = strings.Contains(line, "Gb/sec")
			continue
		}
		if !inTable || len(f) < 4 {
			continue
		}
		size, err1 := strconv.Atoi(f[0])
		gbps, err2 := strconv.ParseFloat(f[3], 64)
		if err1 == nil && err2 == nil && size > 0 && gbps > 0 && gbps < 1e6 {
			out = append(out, Row{Size: size, GBs: gbps / 8})
		}
	}
	if len(out) == 0 {
		return nil, errors.New("parse perftest output: it has no result")
	}
	return out, nil
}
