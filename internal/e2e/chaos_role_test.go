package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/rendezvous"
)

// chaosRole is a rank that works until ranks are lost, says which and when, goes on
// with those that are left, and so on until it is expelled or its input ends. What it
// does between two faults changes from round to round.
func chaosRole() int {
	fds := openFiles()
	end := make(chan struct{})
	go func() { io.Copy(io.Discard, os.Stdin); close(end) }()
	ctx := context.Background()
	world, err := thunder.Init(ctx, thunder.Options{})
	if err != nil {
		now := time.Now().UnixNano()
		if missing, ok := errors.AsType[*rendezvous.MissingError](err); ok {
			fmt.Println("missing", now, missing.Missing)
		} else if lost, ok := errors.AsType[*thunder.PeerLostError](err); ok {
			fmt.Println("lost", now, lost.Rank, lost.Cause)
		} else {
			fmt.Println("init", now, err)
		}
		return 1
	}
	seed, _ := strconv.Atoi(os.Getenv("THUNDER_TEST_SEED"))
	c := world
	code := 0
	for round := 0; ; round++ {
		err := chaosWork(ctx, c, []int{1, 0, 300_000}[(seed+round)%3], round, end)
		if err == nil {
			break
		}
		lost, ok := errors.AsType[*thunder.PeerLostError](err)
		if !ok {
			fmt.Println("error", time.Now().UnixNano(), err)
			code = 1
			break
		}
		fmt.Println("lost", time.Now().UnixNano(), lost.Rank, lost.Cause)
		if c, err = c.Shrink(ctx); err != nil {
			fmt.Println("expelled", time.Now().UnixNano(), err)
			break
		}
	}
	if err := world.Close(); err != nil {
		fmt.Println("close", time.Now().UnixNano(), err)
		code = 1
	}
	if n := sharedMemory(); n > 0 {
		fmt.Printf("leak %d %d shared segments\n", time.Now().UnixNano(), n)
		code = 1
	}
	if n := openFiles(); n > fds {
		fmt.Printf("leak %d %d files open, %d at the start\n", time.Now().UnixNano(), n, fds)
		code = 1
	}
	return code
}

// chaosWork reduces count elements again and again, or waits if it is 0, and checks
// every result. It returns nil when the end has come for all ranks.
func chaosWork(ctx context.Context, c *thunder.Comm, count, round int, end <-chan struct{}) error {
	first := true
	buf := make([]int64, max(count, 1)+1) // the last says whether somebody wants to stop
	for i := int64(1); ; i++ {
		stop := false
		select {
		case <-end:
			stop = true
		default:
		}
		if count == 0 && !first && !stop {
			if err := c.Err(); err != nil {
				return err
			}
			time.Sleep(2 * time.Millisecond)
			continue
		}
		for k := range buf {
			buf[k] = i
		}
		buf[len(buf)-1] = 0
		if stop {
			buf[len(buf)-1] = 1
		}
		if err := thunder.AllReduce(ctx, c, buf, thunder.Sum); err != nil {
			return err
		}
		if want := i * int64(c.Size()); count > 0 {
			for _, v := range buf[:len(buf)-1] {
				if v != want {
					return fmt.Errorf("wrong result %d, want %d", v, want)
				}
			}
		}
		if first {
			first = false
			fmt.Println("working", time.Now().UnixNano(), round, c.Size())
		}
		if buf[len(buf)-1] > 0 {
			return nil
		}
	}
}

// sharedMemory counts the segments of other ranks, or to share with them, that this
// process has mapped; 0 where that is not known.
func sharedMemory() int {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0
	}
	return strings.Count(string(maps), "/memfd:")
}

// openFiles counts descriptors; 0 where that is not known.
func openFiles() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	n := 0
	for _, e := range list {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && to != "anon_inode:[eventpoll]" && to != "anon_inode:[eventfd]" {
			n++
		}
	}
	return n
}
