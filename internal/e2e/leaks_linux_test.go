package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	thunder "thundercollective"
)

// leaksVar makes TestNothingLeft do its work, in a process that has opened nothing else.
const leaksVar = "THUNDER_TEST_LEAKS"

// holdings are what a process has of ours: open files, mapped segments, goroutines.
type holdings struct {
	files, segments int
	stacks          string
}

func takeStock() (h holdings) {
	h.files = openFiles()
	maps, _ := os.ReadFile("/proc/self/maps")
	h.segments = bytes.Count(maps, []byte("memfd:thunder"))
	buf := make([]byte, 1<<20)
	for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		ours := strings.Contains(g, "thundercollective.") || strings.Contains(g, "thundercollective/")
		if ours && !strings.Contains(g, "takeStock") && !strings.Contains(g, "testing.(*T).Run(0x") {
			h.stacks += g + "\n\n"
		}
	}
	return h
}

// leftBehind waits for what is on its way out, and says what stays.
func leftBehind(files int) string {
	deadline := time.Now().Add(10 * time.Second)
	for {
		h := takeStock()
		if h.files <= files && h.segments == 0 && h.stacks == "" {
			return ""
		}
		if time.Now().After(deadline) {
			return fmt.Sprintf("%d files, %d before; %d segments; goroutines:\n%s", h.files, files, h.segments, h.stacks)
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
			files := openFiles()
			t.Run(fabric+"/"+name, func(t *testing.T) {
				comms := ranks(t, 3, thunder.Options{Diagnostics: thunder.Diagnostics{DumpDir: t.TempDir()}})
				each(t, 3, func(r int) error {
					// Which fails if a rank that is done with it has ended the group.
					thunder.AllReduce(t.Context(), comms[r], make([]float32, 1000), thunder.Max)
					return end(t.Context(), comms[r])
				})
			}) // whose end closes what is still open
			if left := leftBehind(files); left != "" {
				t.Fatalf("%s/%s: %s", fabric, name, left)
			}
		}
	}
}
