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
	"thundercollective/internal/patience"
	"thundercollective/internal/rendezvous"
)

// chaosRole is a rank that works until ranks are lost, says which and when, goes on
// with those that are left, and so on until it is expelled or its input ends. What it
// does between two faults changes from round to round. With all that it says goes by how
// much its timers were late.
func chaosRole() int {
	pulse := patience.NewPulse(chaosSilence / 40)
	say := func(word string, rest ...any) {
		fmt.Println(append([]any{word, fmt.Sprintf("%d@%d", time.Now().UnixNano(), pulse.Worst())}, rest...)...)
	}
	fds := openFiles()
	end := make(chan struct{})
	go func() { io.Copy(io.Discard, os.Stdin); close(end) }()
	ctx := context.Background()
	var o thunder.Options
	if addrs := os.Getenv("THUNDER_TEST_ADDRS"); addrs != "" { // each rank has its own ways to the others
		o.Join.Addrs = strings.Split(addrs, ",")
	}
	world, err := thunder.Init(ctx, o)
	if err != nil {
		if missing, ok := errors.AsType[*rendezvous.MissingError](err); ok {
			say("missing", missing.Missing)
		} else if lost, ok := errors.AsType[*thunder.PeerLostError](err); ok {
			say("lost", lost.Rank, lost.Cause)
		} else {
			say("init", err)
		}
		return 1
	}
	seed, _ := strconv.Atoi(os.Getenv("THUNDER_TEST_SEED"))
	c := world
	code := 0
	for round := 0; ; round++ {
		err := chaosWork(ctx, c, []int{1, 0, 300_000}[(seed+round)%3], end, func() { say("working", round, c.Size()) })
		if err == nil {
			break
		}
		lost, ok := errors.AsType[*thunder.PeerLostError](err)
		if !ok {
			say("error", err)
			code = 1
			break
		}
		say("lost", lost.Rank, lost.Cause)
		if c, err = c.Shrink(ctx); err != nil {
			say("expelled", err)
			break
		}
	}
	if err := world.Close(); err != nil {
		say("close", err)
		code = 1
	}
	if n := sharedMemory(); n > 0 {
		say("leak", n, "shared segments")
		code = 1
	}
	if n := openFiles(); n > fds {
		say("leak", n, "files open,", fds, "at the start")
		code = 1
	}
	return code
}

// chaosWork reduces count elements again and again, or waits if it is 0, and checks
// every result. It calls working after the first, and returns nil when the end has come
// for all ranks.
func chaosWork(ctx context.Context, c *thunder.Comm, count int, end <-chan struct{}, working func()) error {
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
			working()
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
