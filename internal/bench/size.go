package bench

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are the suffixes of sizes, in lower case. As in nccl-tests, a single letter is a
// power of 1024; kB and the like are decimal.
var units = map[string]float64{
	"": 1, "b": 1,
	"k": 1 << 10, "kib": 1 << 10, "kb": 1e3,
	"m": 1 << 20, "mib": 1 << 20, "mb": 1e6,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1e9,
	"t": 1 << 40, "tib": 1 << 40, "tb": 1e12,
}

// ParseSize reads a number of bytes such as 4, 64KiB, 1.5MiB or 2G.
func ParseSize(s string) (int64, error) {
	text := strings.TrimSpace(s)
	digits := strings.TrimRightFunc(text, func(r rune) bool {
		return r < '0' || r > '9'
	})
	unit, known := units[strings.ToLower(strings.TrimSpace(text[len(digits):]))]
	number, err := strconv.ParseFloat(digits, 64)
	bytes := number * unit
	switch {
	case err != nil || !known || strings.ContainsAny(digits, "eExX_+"):
		return 0, fmt.Errorf("size %q is not a number of bytes such as 4, 64KiB, 1.5MiB or 2GiB", s)
	case bytes < 0:
		return 0, fmt.Errorf("size %q is negative", s)
	case bytes > math.MaxInt64/2:
		return 0, fmt.Errorf("size %q is too large", s)
	case bytes != math.Trunc(bytes):
		return 0, fmt.Errorf("size %q is not a whole number of bytes", s)
	}
	return int64(bytes), nil
}

// FormatSize formats a number of bytes in the largest suitable unit, to four digits: "4 B",
// "64 KiB", "1.5 MiB".
func FormatSize(bytes float64) string {
	suffix := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; bytes >= 1024 && i < len(suffix)-1; i++ {
		bytes /= 1024
	}
	return strconv.FormatFloat(bytes, 'g', 4, 64) + " " + suffix[i]
}

// FormatMicros formats a time given in microseconds in a suitable unit.
func FormatMicros(us float64) string {
	switch {
	case us >= 1e6:
		return strconv.FormatFloat(us/1e6, 'g', 3, 64) + " s"
	case us >= 1e3:
		return strconv.FormatFloat(us/1e3, 'g', 3, 64) + " ms"
	default:
		return strconv.FormatFloat(us, 'g', 3, 64) + " µs"
	}
}

// FormatRate formats a bandwidth given in GB/s in a suitable unit.
func FormatRate(gbs float64) string {
	switch {
	case gbs >= 1 || gbs == 0:
		return strconv.FormatFloat(gbs, 'g', 3, 64) + " GB/s"
	case gbs >= 1e-3:
		return strconv.FormatFloat(gbs*1e3, 'g', 3, 64) + " MB/s"
	default:
		return strconv.FormatFloat(gbs*1e6, 'g', 3, 64) + " kB/s"
	}
}

// sweep lists the sizes from min to max, each factor times the previous one.
func sweep(min, max int64, factor int) []int64 {
	list := []int64{min}
	if min == 0 {
		// No factor leads up from zero: continue with one byte.
		min = 1
		if max >= 1 {
			list = append(list, 1)
		}
	}
	for size := min; size <= max/int64(factor); {
		size *= int64(factor)
		list = append(list, size)
	}
	return list
}
