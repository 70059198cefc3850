package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"

	thunder "thundercollective"
)

var long = flag.Bool("long", false, "run every mode, algorithm, type and reduction on 1 to 9 ranks")

// group opens n ranks in this process.
func group(t *testing.T, n int) []*thunder.Comm {
	t.Helper()
	comms, err := thunder.Local(n, thunder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range comms {
			c.Close()
		}
	})
	return comms
}

// onAll calls f for every rank at once and returns the first error.
func onAll(comms []*thunder.Comm, f func(c *thunder.Comm) error) error {
	errs := make([]error, len(comms))
	var wg sync.WaitGroup
	for i, c := range comms {
		wg.Go(func() { errs[i] = f(c) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// runAll runs cfg on all ranks and returns each rank's rows.
func runAll(t *testing.T, comms []*thunder.Comm, cfg Config) [][]Row {
	t.Helper()
	rows := make([][]Row, len(comms))
	err := onAll(comms, func(c *thunder.Comm) error {
		return Run(context.Background(), c, cfg, func(r Row) { rows[c.Rank()] = append(rows[c.Rank()], r) })
	})
	if err != nil {
		t.Fatalf("%+v: %v", cfg, err)
	}
	return rows
}

// examine checks what has to hold for the rows of any run, and returns the
// checksums.
func examine(t *testing.T, cfg Config, rows [][]Row) (sums []string) {
	t.Helper()
	ranks := len(rows)
	for rank, list := range rows {
		if len(list) != cfg.Rows(ranks) {
			t.Fatalf("%+v: rank %d has %d rows, want %d", cfg, rank, len(list), cfg.Rows(ranks))
		}
		for i, r := range list {
			first := rows[0][i]
			if r.Wrong == nil || *r.Wrong != 0 {
				t.Errorf("%+v: rank %d, %d bytes: wrong is %v", cfg, rank, r.SizeBytes, *r.Wrong)
			}
			if r.Rank != rank || r.WorldSize != ranks || r.Mode != cfg.Mode {
				t.Errorf("%+v: row of rank %d says %+v", cfg, rank, r)
			}
			if r.Checksum != first.Checksum || r.ElapsedSecs != first.ElapsedSecs || r.Iters != first.Iters {
				t.Errorf("%+v: ranks 0 and %d report differently: %+v and %+v", cfg, rank, first, r)
			}
			if r.Lat.Min > r.Lat.P50 || r.Lat.P50 > r.Lat.P99 || r.Lat.P99 > r.Lat.Max {
				t.Errorf("%+v: latencies out of order: %+v", cfg, r.Lat)
			}
		}
	}
	for _, r := range rows[0] {
		sums = append(sums, r.Checksum)
	}
	return sums
}

func TestRunEveryMode(t *testing.T) {
	counts := []int{1, 2, 3, 4, 9}
	if *long {
		counts = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	}
	for _, n := range counts {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			comms := group(t, n)
			for _, mode := range Modes() {
				for _, cfg := range variants(mode, n) {
					sums := examine(t, cfg, runAll(t, comms, cfg))
					if again := examine(t, cfg, runAll(t, comms, cfg)); !slices.Equal(sums, again) {
						t.Errorf("%+v: checksums %v, then %v", cfg, sums, again)
					}
				}
			}
		})
	}
}

// variants lists what a mode is run with: normally every algorithm with one type,
// and every type with one algorithm; with -long all together.
func variants(mode Mode, ranks int) []Config {
	base := Config{Mode: mode, Min: 0, Max: 3000, Factor: 10, Iters: 2, Warmup: 0, Root: ranks - 1}
	var list []Config
	add := func(a thunder.Algo, dt thunder.DType, op thunder.Op) {
		if thunder.CheckOp(dt, op) != nil {
			return
		}
		c := base
		c.Algo, c.DType, c.Op = a, dt, op
		list = append(list, c)
	}
	algos := append([]thunder.Algo{thunder.Auto}, mode.Algos()...)
	ops := []thunder.Op{thunder.Sum}
	if mode.Reduces() {
		ops = thunder.Ops()
	}
	if *long {
		for _, a := range algos {
			for _, dt := range thunder.DTypes() {
				for _, op := range ops {
					add(a, dt, op)
				}
			}
		}
		return list
	}
	for _, a := range algos {
		add(a, thunder.F32, thunder.Sum)
	}
	for i, dt := range thunder.DTypes() {
		add(thunder.Auto, dt, ops[i%len(ops)])
	}
	return list
}

func TestRunIterations(t *testing.T) {
	comms := group(t, 2)
	for _, cfg := range []Config{
		{Mode: AllReduce, Min: 64, Max: 64, Iters: 7},
		{Mode: AllReduce, Min: 64, Max: 64, Iters: 1, Check: CheckNone},
	} {
		for _, rows := range runAll(t, comms, cfg) {
			if rows[0].Iters != cfg.Iters {
				t.Errorf("%d iterations, want %d", rows[0].Iters, cfg.Iters)
			}
			if checked := rows[0].Wrong != nil && rows[0].Checksum != ""; checked == (cfg.Check == CheckNone) {
				t.Errorf("check is %q, but the row is %+v", cfg.Check, rows[0])
			}
		}
	}
	rows := runAll(t, comms, Config{Mode: AllReduce, Min: 64, Max: 64, Warmup: -1})
	if n := rows[0][0].Iters; n < minIters || n > maxIters {
		t.Errorf("%d iterations were chosen", n)
	}
}

func TestFinalValue(t *testing.T) {
	comms := group(t, 3)
	rows := runAll(t, comms, Config{Mode: AllReduce, DType: thunder.I32, Min: 4, Max: 4, Iters: 3})
	want := float64(reduced(thunder.I32, thunder.Sum, 3, 0))
	for rank, list := range rows {
		if v := list[0].FinalValue; v == nil || *v != want {
			t.Errorf("rank %d: %v, want %v", rank, v, want)
		}
	}
	rows = runAll(t, comms, Config{Mode: Gather, Root: 1, Min: 12, Max: 12, Iters: 1})
	for rank, list := range rows {
		if has := list[0].FinalValue != nil; has != (rank == 1) {
			t.Errorf("rank %d has a value: %v, but the root is 1", rank, has)
		}
	}
}

func TestRunRefusesBadConfig(t *testing.T) {
	comms := group(t, 1)
	var bad *ConfigError
	if err := Run(t.Context(), comms[0], Config{Mode: Broadcast, Root: 1}, nil); !errors.As(err, &bad) {
		t.Errorf("got %v, want a *ConfigError", err)
	}
}

// A damaged byte anywhere in a result has to be found.
func TestTaskFindsDamage(t *testing.T) {
	const ranks, count = 5, 300
	for _, mode := range Collectives() {
		cfg := Config{Mode: mode, Root: 2}
		cfg.fill()
		s := shape{count, count * 4}
		if mode.blocks() {
			s.bytes *= ranks
		}
		for rank := range ranks {
			send, recv := cfg.need(rank, ranks, s)
			task := newTask(cfg, rank, ranks, s, &memory{make([]byte, send), make([]byte, recv)})
			task.prepare()
			for _, r := range task.want {
				r.p.fill(r.buf, r.start)
			}
			if n := task.wrong(); n != 0 {
				t.Fatalf("%s on rank %d: %d wrong in the right result", mode, rank, n)
			}
			sum := task.checksum()
			for _, r := range task.want {
				for _, at := range []int{0, len(r.buf) / 2, len(r.buf) - 1} {
					r.buf[at] ^= 0x10
					if n := task.wrong(); n != 1 {
						t.Errorf("%s on rank %d: byte %d is damaged, %d wrong", mode, rank, at, n)
					}
					if len(task.result) > 0 && task.checksum() == sum {
						t.Errorf("%s on rank %d: byte %d is damaged, but the checksum is the same", mode, rank, at)
					}
					r.buf[at] ^= 0x10
				}
			}
		}
	}
}

// What was not received at all must not pass because it was there before.
func TestPrepareForgetsResults(t *testing.T) {
	const ranks, count = 3, 100
	for _, mode := range Collectives() {
		if mode == Barrier {
			continue
		}
		cfg := Config{Mode: mode}
		cfg.fill()
		s := shape{count, count * 4}
		if mode.blocks() {
			s.bytes *= ranks
		}
		send, recv := cfg.need(1, ranks, s)
		task := newTask(cfg, 1, ranks, s, &memory{make([]byte, send), make([]byte, recv)})
		for _, r := range task.want {
			r.p.fill(r.buf, r.start)
		}
		task.prepare()
		kept := mode == Reduce || mode == Gather // rank 1 is not the root and gets nothing
		if n := task.wrong(); (n == 0) != kept {
			t.Errorf("%s: %d wrong after the result was made to be forgotten", mode, n)
		}
	}
}

// Ranks whose results differ although each looks right count as wrong.
func TestSettleComparesChecksums(t *testing.T) {
	comms := group(t, 3)
	rows := make([]Row, len(comms))
	for _, c := range []struct {
		mode Mode
		want int64
	}{{AllReduce, 1}, {ReduceScatter, 0}} {
		err := onAll(comms, func(comm *thunder.Comm) error {
			result := []byte{1, 2, 3, 4}
			if comm.Rank() == 2 {
				result[3]++
			}
			return settle(context.Background(), comm, Config{Mode: c.mode}, &task{result: result}, 0, &rows[comm.Rank()])
		})
		if err != nil {
			t.Fatal(err)
		}
		for rank, r := range rows {
			if *r.Wrong != c.want || r.Checksum != rows[0].Checksum {
				t.Errorf("%s, rank %d: %d wrong, checksum %s; want %d and the same on all", c.mode, rank, *r.Wrong, r.Checksum, c.want)
			}
		}
	}
}
