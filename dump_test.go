package thunder_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/inspect"
	"thundercollective/internal/recorder"
)

// TestDump reads back what a working group recorded.
func TestDump(t *testing.T) {
	comms := memRanks(t, 2, thunder.Options{})
	each(t, 2, func(r int) error {
		for range 3 {
			if err := thunder.AllReduce(t.Context(), comms[r], make([]float32, 10), thunder.Sum); err != nil {
				return err
			}
		}
		return nil
	})
	var b bytes.Buffer
	if err := comms[1].Dump(&b); err != nil {
		t.Fatal(err)
	}
	d, err := recorder.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	ops := d.Groups[0].Operations
	if d.Rank != 1 || d.Size != 2 || len(ops) != 3 {
		t.Fatalf("got %+v", d)
	}
	if o := ops[2]; o.Seq != 3 || o.Kind != "allreduce" || o.DType != "f32" || o.Bytes != 40 || o.State != "done" || o.Took <= 0 {
		t.Errorf("got %+v", o)
	}
	if p := d.Peers[0]; p.Rank != 0 || p.SentBytes == 0 || p.RecvMessages == 0 {
		t.Errorf("got %+v", p)
	}
}

// TestDumpOnFailure has ranks that fail leave dumps, of which inspect says what
// happened.
func TestDumpOnFailure(t *testing.T) {
	for name, tt := range map[string]struct {
		rank2 func(c *thunder.Comm) error // what rank 2 does while the others reduce
		want  string
	}{
		"late":  {func(c *thunder.Comm) error { return nil }, "rank 2 had not called operation #2, allreduce(4 × i32, sum"},
		"other": {func(c *thunder.Comm) error { return thunder.Broadcast(context.Background(), c, make([]int32, 4), 0) }, "operation #2: rank 2 called broadcast("},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			comms := tcpRanks(t, 3, thunder.Options{DumpDir: dir, Timeout: 1500 * time.Millisecond})
			each(t, 3, func(r int) error { return thunder.Barrier(t.Context(), comms[r]) })
			each(t, 3, func(r int) error {
				if r == 2 {
					if err := tt.rank2(comms[2]); err != nil {
						return nil
					}
					for comms[2].Err() == nil {
						time.Sleep(time.Millisecond)
					}
					return nil
				}
				if err := thunder.AllReduce(t.Context(), comms[r], make([]int32, 4), thunder.Sum); err == nil {
					return errors.New("no error")
				}
				return nil
			})
			for _, c := range comms {
				c.Close() // and with that, its dump is written
			}
			dumps, err := inspect.Load(t.Context(), []string{dir})
			if err != nil {
				t.Fatal(err)
			}
			report, err := inspect.Examine(dumps)
			if err != nil || len(dumps) != 3 || !strings.HasPrefix(report.Verdict, tt.want) {
				t.Errorf("%d dumps, %v: %s", len(dumps), err, report.Verdict)
			}
		})
	}
}

// TestDumpCannotBeWritten does not let a dump that cannot be written change how a
// failure is reported.
func TestDumpCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	comms := memRanks(t, 2, thunder.Options{DumpDir: dir})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	comms[0].Abort("enough")
	var abort *thunder.AbortError
	if err := thunder.Barrier(t.Context(), comms[1]); !errors.As(err, &abort) {
		t.Errorf("got %v", err)
	}
	if _, err := thunder.Local(1, thunder.Options{DumpDir: "/dev/null/folder"}); err == nil {
		t.Error("a folder that cannot be is accepted")
	}
}
