package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/freeaddr"
)

// matrixRows makes up a run of 3 ranks; the pairs of rank 0 have two rails, of
// which one is down.
func matrixRows() []Row {
	var rows []Row
	for from := range 3 {
		for to := range 3 {
			if from == to {
				continue
			}
			var wrong int64
			v := float64(10*from + to)
			both := v / 6
			row := Row{Mode: Matrix, WorldSize: 3, Pair: Pair{From: &from, To: &to, BothBW: &both}, Wrong: &wrong, Streams: 4,
				Lat: Latency{P50: v, P99: 2 * v}, AlgBW: v / 10, BusBW: v / 10}
			rows = append(rows, row)
			if from*to != 0 {
				continue
			}
			for i := range 2 {
				row.Streams = 2
				row.Rail = &MatrixRail{Index: i, Near: fmt.Sprintf("10.0.%d.%d", i, from), Far: fmt.Sprintf("10.0.%d.%d", i, to), Device: "en5"}
				if i == 1 && from == 2 {
					row.forget()
					row.Wrong, row.Streams, row.Rail.Device = nil, 0, ""
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func TestMatrixTable(t *testing.T) {
	rows := matrixRows()
	var b bytes.Buffer
	table := &Table{W: &b}
	if err := table.Matrix([]string{"thunder bench matrix"}, rows); err != nil {
		t.Fatal(err)
	}
	if err := table.Footer(); err != nil {
		t.Fatal(err)
	}
	golden(t, "matrix.txt", b.Bytes())
	var svg bytes.Buffer
	if err := Heat("matrix", "", rows).WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	// Four tables of nine pairs, four pairs with two rails.
	if n := strings.Count(svg.String(), `class="cell`); n != 4*(9+4*2) {
		t.Errorf("%d cells drawn, want 68", n)
	}
	if n := strings.Count(svg.String(), ">down<"); n != 4 {
		t.Errorf("%d rails are shown as down, want 4", n)
	}
}

// railGroup opens n ranks in this process with two rails each.
func railGroup(t *testing.T, n int) []*thunder.Comm {
	t.Helper()
	addrs := freeaddr.Rails(t, n)
	comms := make([]*thunder.Comm, len(addrs))
	errs := make([]error, len(addrs))
	var wg sync.WaitGroup
	for r := range addrs {
		wg.Go(func() {
			comms[r], errs[r] = thunder.Init(t.Context(), thunder.Options{Join: thunder.Join{Rank: r, Size: len(addrs), Addrs: addrs}, Transport: thunder.Transport{Fabric: "tcp", Streams: 2}})
		})
	}
	wg.Wait()
	t.Cleanup(func() {
		for _, c := range comms {
			if c != nil {
				wg.Go(func() { c.Close() })
			}
		}
		wg.Wait()
	})
	for r, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", r, err)
		}
	}
	return comms
}

// TestMatrixRails measures pairs with two rails: a row for each pair, and one for
// each of its rails, during which the other carries nothing.
func TestMatrixRails(t *testing.T) {
	comms := railGroup(t, 3)
	rows := make([][]Row, len(comms))
	err := onAll(comms, func(c *thunder.Comm) error {
		return Run(context.Background(), c, Config{Mode: Matrix, Max: 1 << 20, Iters: 3, Streams: 2}, func(r Row) { rows[c.Rank()] = append(rows[c.Rank()], r) })
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(rows[0]); n != 6*3 {
		t.Fatalf("%d rows, want one for each of 6 pairs and for each of their 2 rails", n)
	}
	failovers := 0
	for _, c := range comms {
		for _, r := range c.Rails() {
			failovers += r.Failovers
		}
	}
	for i, r := range rows[0] {
		for rank := range rows {
			other := rows[rank][i]
			if other.Rank != rank {
				t.Errorf("row %d of rank %d says rank %d", i, rank, other.Rank)
			}
			other.Rank = r.Rank
			if a, b := text(t, r), text(t, other); a != b {
				t.Errorf("ranks 0 and %d report differently:\n%s\n%s", rank, a, b)
			}
		}
		if rail := i%3 - 1; rail >= 0 && (r.Rail == nil || r.Rail.Index != rail ||
			r.Rail.Near != fmt.Sprintf("127.0.%d.%d", rail, *r.From+1) || r.Rail.Far != fmt.Sprintf("127.0.%d.%d", rail, *r.To+1)) {
			t.Errorf("row %d is not about rail %d: %s", i, rail, text(t, r))
		}
		if r.Rail != nil && r.Rail.Down && failovers > 0 {
			continue // on a very busy machine a rail may seem to stall
		}
		streams := 2
		if r.Rail == nil {
			streams = 4
		}
		if r.Wrong == nil || *r.Wrong != 0 || r.AlgBW <= 0 || r.BothBW == nil || *r.BothBW <= 0 || r.Lat.P50 <= 0 || r.Lat.P99 < r.Lat.P50 ||
			r.Iters != 3 || failovers == 0 && r.Streams != streams {
			t.Errorf("row %d: %s", i, text(t, r))
		}
	}
}

func text(t *testing.T, r Row) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
