package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/inspect"
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
			comms := tcpRanks(t, 3, thunder.Options{Diagnostics: thunder.Diagnostics{DumpDir: dir}, Timeout: 1500 * time.Millisecond})
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

// TestDumpOfMessages has a rank wait in vain for a message. Its error says for which,
// and from the dumps inspect knows who did not send it.
func TestDumpOfMessages(t *testing.T) {
	dir := t.TempDir()
	comms := tcpRanks(t, 3, thunder.Options{Diagnostics: thunder.Diagnostics{DumpDir: dir}})
	var failure error
	each(t, 3, func(r int) error {
		c, buf := comms[r], make([]float32, 4)
		for range 2 { // messages that arrive
			if err := thunder.SendRecv(t.Context(), c, make([]float32, 4), (r+1)%3, buf, (r+2)%3); err != nil {
				return err
			}
		}
		if r == 1 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			failure = thunder.Recv(ctx, c, buf, 2)
		}
		for c.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		return nil
	})
	var late *thunder.TimeoutError
	if !errors.As(failure, &late) || late.Operation != "recv(4 × f32, from rank 2), #1" {
		t.Errorf("got %v", failure)
	}
	var b bytes.Buffer
	if err := comms[1].Dump(&b); err != nil {
		t.Fatal(err)
	}
	d, err := recorder.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Groups[0].Pairs {
		last := p.Operations[len(p.Operations)-1]
		want := "done"
		if p.Peer == 2 && p.Direction == recorder.From {
			want = "failed"
		}
		if last.State != want || last.Bytes != 16 || last.Took <= 0 {
			t.Errorf("messages %s rank %d end with %+v", p.Direction, p.Peer, last)
		}
	}
	if n := len(d.Groups[0].Pairs); n != 3 { // to 2, from 0 and from 2
		t.Errorf("%d pairs", n)
	}
	if p := d.Peers[1]; p.Rank != 2 || p.SentMessages < 2 {
		t.Errorf("got %+v", p)
	}
	for _, c := range comms {
		c.Close()
	}
	dumps, err := inspect.Load(t.Context(), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	report, err := inspect.Examine(dumps)
	if err != nil || !strings.HasPrefix(report.Verdict, "rank 1 waited ") || !strings.Contains(report.Verdict, " in recv(4 × f32, from rank 2), message 1: ") || !strings.Contains(report.Verdict, "rank 2 had not sent it") {
		t.Errorf("%v: %s", err, report.Verdict)
	}
}

// TestDumpCannotBeWritten does not let a dump that cannot be written change how a
// failure is reported.
func TestDumpCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	comms := memRanks(t, 2, thunder.Options{Diagnostics: thunder.Diagnostics{DumpDir: dir}})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	comms[0].Abort("enough")
	var abort *thunder.AbortError
	if err := thunder.Barrier(t.Context(), comms[1]); !errors.As(err, &abort) {
		t.Errorf("got %v", err)
	}
	if _, err := thunder.Local(1, thunder.Options{Diagnostics: thunder.Diagnostics{DumpDir: "/dev/null/folder"}}); err == nil {
		t.Error("a folder that cannot be is accepted")
	}
}
