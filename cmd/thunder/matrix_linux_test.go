package main

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"thundercollective/internal/bench"
	"thundercollective/internal/cabling/lab"
)

// labMatrix runs the matrix of two hosts over all their cables.
func labMatrix(t *testing.T, l *lab.Lab) []bench.Row {
	t.Helper()
	needProgram(t)
	addrs := l.Addrs(7600)
	cmds := make([]*exec.Cmd, len(addrs))
	var out bytes.Buffer
	errs := make([]bytes.Buffer, len(addrs))
	for rank := range addrs {
		args := []string{program, "bench", "matrix", "--json", "--fabric", "tcp", "--insecure", "--size", "1MiB", "--rank", strconv.Itoa(rank), "--world-size", strconv.Itoa(len(addrs))}
		for _, a := range addrs {
			args = append(args, "--addr", a)
		}
		cmds[rank] = l.Command(rank, args...)
		cmds[rank].Env = append(os.Environ(), "THUNDER_HEARTBEAT_TIMEOUT=30s") // the machine may be busy
		cmds[rank].Stderr = &errs[rank]
		if rank == 0 {
			cmds[rank].Stdout = &out
		}
		if err := cmds[rank].Start(); err != nil {
			t.Fatal(err)
		}
	}
	failed := false
	for rank, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			failed = true
			t.Errorf("rank %d: %v\n%s", rank, err, errs[rank].String())
		}
	}
	if failed {
		t.FailNow()
	}
	return parse(t, out.String())
}

// TestMatrixOnCables: no rail is faster than its own cable, so each was used alone.
//
//	[0]──100 Mb/s──[1]
//	 └───400 Mb/s───┘
func TestMatrixOnCables(t *testing.T) {
	rates := []int{100, 400}
	l := lab.New(t, 2, lab.Cable{A: 0, B: 1, Mbps: rates[0]}, lab.Cable{A: 0, B: 1, Mbps: rates[1]})
	rows := labMatrix(t, l)
	if len(rows) != 6 {
		t.Fatalf("%d rows, want 6", len(rows))
	}
	for _, r := range rows {
		limit := float64(rates[0] + rates[1])
		if r.Rail != nil {
			limit = float64(rates[r.Rail.Index])
			if r.Rail.Down || r.Rail.Device != l.Device(r.Rail.Index) || r.Rail.Near != l.Addr(r.Rail.Index, *r.From) {
				t.Errorf("from %d to %d: rail %+v", *r.From, *r.To, r.Rail)
				continue
			}
		}
		// What the cables' queues hold when the clock starts is for free.
		limit *= 1.25 / 8000
		if r.AlgBW <= 0 || r.AlgBW > limit || r.BothBW == nil || *r.BothBW > 2*limit {
			t.Errorf("from %d to %d, rail %+v: %v GB/s one way and %v both ways, the cables have %v each way", *r.From, *r.To, r.Rail, r.AlgBW, *r.BothBW, limit)
		}
	}
}

// TestMatrixCutCable: a rail that never came up is said to be down, and the other one
// is measured.
//
//	[0]────────[1]
//	 └────✂─────┘
func TestMatrixCutCable(t *testing.T) {
	l := lab.New(t, 2, lab.Cable{A: 0, B: 1}, lab.Cable{A: 0, B: 1})
	l.Cut(1)
	for _, r := range labMatrix(t, l) {
		down := r.Rail != nil && r.Rail.Index == 1
		if r.Rail != nil && r.Rail.Down != down || (r.AlgBW > 0) == down || (r.BothBW == nil) != down {
			t.Errorf("from %d to %d, rail %+v: %+v", *r.From, *r.To, r.Rail, r)
		}
	}
}
