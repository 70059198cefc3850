// Package patience bounds how long tests wait by the time that the machine gave them,
// not by the time on the wall.
//
// A limit that is generous on a quiet machine is short on one that runs ten other
// programs. The kernel knows for how long each thread was ready to run and had to wait
// for a processor; a Clock does not count that time. What waits for something else than
// a processor, as everything does that hangs, is counted in full. Where the kernel does
// not tell, all time counts.
package patience

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// sampleEvery is how often a Clock looks at the threads.
const sampleEvery = 100 * time.Millisecond

// A Clock counts the time that this process and those that it started were given.
type Clock struct {
	stop chan struct{}
	done sync.WaitGroup

	mu      sync.Mutex
	last    time.Time
	threads map[string]usage // by where the kernel tells of them
	given   time.Duration
}

// A usage is how long threads have run, and have waited to.
type usage struct{ run, wait time.Duration }

// Start returns a clock that runs until Stop.
func Start() *Clock {
	c := &Clock{stop: make(chan struct{}), last: time.Now(), threads: map[string]usage{}}
	c.look()
	c.done.Go(func() {
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.Given()
			case <-c.stop:
				return
			}
		}
	})
	return c
}

// Stop ends the clock.
func (c *Clock) Stop() {
	close(c.stop)
	c.done.Wait()
}

// Given returns how much of the time since Start was given.
func (c *Clock) Given() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.given += given(now.Sub(c.last), c.look())
	c.last = now
	return c.given
}

// given is how much of d counts when threads used it in this way. Threads that wait at
// the same time delay a process only once: if they would have used several processors,
// the part of their demand that was not met counts.
func given(d time.Duration, u usage) time.Duration {
	if demand := u.run + u.wait; demand > d {
		return time.Duration(float64(d) * float64(u.run) / float64(demand))
	}
	return d - u.wait
}

// look returns what the threads did since the last call.
func (c *Clock) look() (sum usage) {
	for pids := []string{"self"}; len(pids) > 0; pids = pids[1:] {
		tasks, _ := filepath.Glob("/proc/" + pids[0] + "/task/*")
		for _, task := range tasks {
			children, _ := os.ReadFile(task + "/children")
			pids = append(pids, strings.Fields(string(children))...)
			b, err := os.ReadFile(task + "/schedstat")
			if err != nil {
				continue // it has ended
			}
			var now usage
			if _, err := fmt.Sscan(string(b), &now.run, &now.wait); err != nil {
				continue
			}
			before := c.threads[task]
			c.threads[task] = now
			sum.run += now.run - before.run
			sum.wait += now.wait - before.wait
		}
	}
	return sum
}
