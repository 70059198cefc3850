package bench

import (
	"slices"
	"testing"
)

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "4": 4, "4B": 4, "1k": 1024, "1KiB": 1024, "1kB": 1000, " 64 MiB ": 64 << 20,
		"1.5MiB": 3 << 19, "2G": 2 << 30, "2gib": 2 << 30, "0.5k": 512, "1TiB": 1 << 40,
	} {
		if got, err := ParseSize(in); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "x", "KiB", "-1", "-4KiB", "1.5", "1e3", "0x10", "1_000", "1 Zi", "1MiBs", "9999999TiB", "nan", "inf", "1,5MiB", "+4"} {
		if got, err := ParseSize(in); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", in, got)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{FormatSize(0), "0 B"}, {FormatSize(1023), "1023 B"}, {FormatSize(1024), "1 KiB"},
		{FormatSize(3 << 19), "1.5 MiB"}, {FormatSize(1 << 30), "1 GiB"}, {FormatSize(1 << 50), "1024 TiB"},
		{FormatMicros(0.5), "0.5 µs"}, {FormatMicros(1500), "1.5 ms"}, {FormatMicros(2e6), "2 s"},
		{FormatRate(0), "0 GB/s"}, {FormatRate(2.5), "2.5 GB/s"}, {FormatRate(0.02), "20 MB/s"}, {FormatRate(0.0000005), "0.5 kB/s"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestSweep(t *testing.T) {
	for _, c := range []struct {
		min, max int64
		factor   int
		want     []int64
	}{
		{4, 64, 4, []int64{4, 16, 64}},
		{4, 63, 4, []int64{4, 16}},
		{5, 5, 2, []int64{5}},
		{0, 0, 2, []int64{0}},
		{0, 4, 2, []int64{0, 1, 2, 4}},
		{1 << 61, 1<<62 - 1, 1000, []int64{1 << 61}},
	} {
		if got := sweep(c.min, c.max, c.factor); !slices.Equal(got, c.want) {
			t.Errorf("sweep(%d, %d, %d) = %v, want %v", c.min, c.max, c.factor, got, c.want)
		}
	}
}
