package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	thunder "thundercollective"
	"thundercollective/internal/leaks"
	"thundercollective/internal/patience"
)

// leaksVar makes TestNothingLeft do its work, in a process that has opened nothing else.
const leaksVar = "THUNDER_TEST_LEAKS"

// holdings are what a process has: open files, mapped segments of ours, goroutines.
type holdings struct {
	files, segments int
	goroutines      goleak.Option // leaves those out that are there
}

func takeStock() holdings {
	maps, _ := os.ReadFile("/proc/self/maps")
	return holdings{openFiles(), bytes.Count(maps, []byte("memfd:thunder")), goleak.IgnoreCurrent()}
}

// leftBehind waits for what is on its way out, and says what stays.
func leftBehind(before holdings) string {
	if err := leaks.Find(before.goroutines); err != nil {
		return err.Error()
	}
	ctx, cancel := patience.Context(context.Background(), 10*time.Second)
	defer cancel()
	for {
		now := takeStock()
		if now.files <= before.files && now.segments == 0 {
			return ""
		}
		if ctx.Err() != nil {
			return fmt.Sprintf("%d files, %d before; %d segments", now.files, before.files, now.segments)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestNothingLeft ends jobs in every way that is left to a program, over every fabric,
// and then looks for open files, shared memory and goroutines.
func TestNothingLeft(t *testing.T) {
	if os.Getenv(leaksVar) != "" {
		nothingLeft(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestNothingLeft$", "-test.v")
	cmd.Env = append(os.Environ(), leaksVar+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestNothingLeft (")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func nothingLeft(t *testing.T) {
	// What the runtime opens once is not ours.
	if comms, err := thunder.Local(1, thunder.Options{}); err == nil {
		comms[0].Close()
	}
	ends := map[string]func(ctx context.Context, c *thunder.Comm) error{
		"close": func(context.Context, *thunder.Comm) error { return nil },
		"abort": func(ctx context.Context, c *thunder.Comm) error {
			if c.Rank() == 1 {
				c.Abort("enough")
			}
			for thunder.AllReduce(ctx, c, make([]float32, 1<<16), thunder.Max) == nil {
			}
			return nil
		},
		"leave": func(ctx context.Context, c *thunder.Comm) error {
			if c.Rank() == 1 {
				return c.Close() // in the middle of what the others do
			}
			for thunder.AllReduce(ctx, c, make([]float32, 1<<16), thunder.Max) == nil {
			}
			return nil
		},
		"timeout": func(ctx context.Context, c *thunder.Comm) error {
			if c.Rank() == 1 {
				for c.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				return nil
			}
			ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			thunder.Recv(ctx, c, make([]int32, 4), 1)
			return nil
		},
		"work under way": func(ctx context.Context, c *thunder.Comm) error {
			// Nobody waits for these: not all ranks call them.
			if c.Rank() != 1 {
				thunder.AllReduceAsync(ctx, c, make([]float32, 1<<20), thunder.Max)
				thunder.RecvAsync(ctx, c, make([]float32, 10), 1)
				thunder.SendAsync(ctx, c, make([]float32, 1<<20), 1)
			}
			return nil
		},
		"shrink": func(ctx context.Context, c *thunder.Comm) error {
			left, err := c.Shrink(ctx)
			if err != nil {
				return err
			}
			return thunder.Barrier(ctx, left)
		},
		"split": func(ctx context.Context, c *thunder.Comm) error {
			g, err := c.Split(ctx, c.Rank()%2, 0)
			if err != nil {
				return err
			}
			return thunder.Barrier(ctx, g)
		},
	}
	for fabric, ranks := range fabrics {
		for name, end := range ends {
			before := takeStock()
			t.Run(fabric+"/"+name, func(t *testing.T) {
				comms := ranks(t, 3, thunder.Options{Diagnostics: thunder.Diagnostics{DumpDir: t.TempDir()}})
				each(t, 3, func(r int) error {
					// Which fails if a rank that is done with it has ended the group.
					thunder.AllReduce(t.Context(), comms[r], make([]float32, 1000), thunder.Max)
					return end(t.Context(), comms[r])
				})
			}) // whose end closes what is still open
			if left := leftBehind(before); left != "" {
				t.Fatalf("%s/%s: %s", fabric, name, left)
			}
		}
	}
}
