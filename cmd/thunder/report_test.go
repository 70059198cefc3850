package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"thundercollective/internal/bench"

	"github.com/spf13/cobra"
)

// A wrong element anywhere makes the run fail, in a table and in JSON.
func TestWrongResultFails(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		r := &report{cfg: bench.Config{Mode: bench.AllReduce, Max: 4, Fabric: "mem"}, ranks: 2, where: "2 ranks", json: asJSON}
		verb := working(func(*cobra.Command, []string) error {
			return r.watch(t.Context(), &out, io.Discard, func(_ context.Context, emit func(bench.Row), _ io.Writer) error {
				for _, wrong := range []int64{0, 5} {
					emit(bench.Row{Mode: bench.AllReduce, Wrong: &wrong})
				}
				return nil
			})
		})
		var fail *failure
		if err := verb(nil, nil); !errors.As(err, &fail) || fail.code != exitFailed || !strings.Contains(err.Error(), "5 elements are wrong, in 1 of 2 rows") {
			t.Errorf("json %v: got %v", asJSON, err)
		}
		want := "5 FAILED"
		if asJSON {
			want = `"wrong":5`
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// Results that cannot be written are a failure too.
func TestUnwritableOutputFails(t *testing.T) {
	r := &report{cfg: bench.Config{Mode: bench.AllReduce, Max: 4}, ranks: 2, json: true}
	err := r.watch(t.Context(), fullDisk{}, io.Discard, func(_ context.Context, emit func(bench.Row), _ io.Writer) error {
		emit(bench.Row{})
		return nil
	})
	if !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
}
