//go:build unix

package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"thundercollective/internal/faultproxy"
)

// A chaosFault is what can happen to a real job. It returns the ranks that may be
// blamed; nil if nobody may be. a and b are two ranks that are there.
type chaosFault struct {
	name   string
	weight int
	do     func(j *chaosJob, a, b int) (blame []int)
}

// processFaults happen to processes, whatever their fabric; networkFaults to what is
// between them.
var processFaults = []chaosFault{
	{"kill", 10, func(j *chaosJob, a, _ int) []int { j.ps[a].Process.Kill(); return []int{a} }},
	{"stop for a moment", 2, func(j *chaosJob, a, _ int) []int {
		j.ps[a].Process.Signal(syscall.SIGSTOP)
		time.Sleep(200 * time.Millisecond)
		j.ps[a].Process.Signal(syscall.SIGCONT)
		return nil
	}},
	{"stop", 1, func(j *chaosJob, a, _ int) []int { j.ps[a].Process.Signal(syscall.SIGSTOP); return []int{a} }},
	{twoDie, 2, func(j *chaosJob, a, b int) []int { j.ps[a].Process.Kill(); return []int{a, b} }},
}

// twoDie kills a second rank while the others agree on who is left.
const twoDie = "kill, and another one while they shrink"

var networkFaults = []chaosFault{
	{"reset", 3, func(j *chaosJob, a, b int) []int { j.via[[2]int{max(a, b), min(a, b)}].Reset(); return []int{a, b} }},
	{"corrupt", 2, func(j *chaosJob, a, b int) []int {
		j.between(a, b, faultproxy.Fault{Corrupt: true}, faultproxy.Fault{})
		return []int{a, b}
	}},
	{"slow reader", 1, func(j *chaosJob, a, b int) []int {
		j.between(a, b, faultproxy.Fault{Rate: 2 << 20}, faultproxy.Fault{})
		time.Sleep(300 * time.Millisecond)
		j.between(a, b, faultproxy.Fault{}, faultproxy.Fault{})
		return nil
	}},
	{"delay and a narrow cable", 2, func(j *chaosJob, a, b int) []int {
		j.between(a, b, faultproxy.Fault{Delay: 3 * time.Millisecond}, faultproxy.Fault{Rate: 50 << 20})
		time.Sleep(100 * time.Millisecond)
		j.between(a, b, faultproxy.Fault{}, faultproxy.Fault{})
		return nil
	}},
	{"silence for a moment", 1, func(j *chaosJob, a, b int) []int {
		j.between(a, b, faultproxy.Fault{Silent: true}, faultproxy.Fault{Silent: true})
		time.Sleep(200 * time.Millisecond)
		j.between(a, b, faultproxy.Fault{}, faultproxy.Fault{})
		return nil
	}},
	{"one way", 1, func(j *chaosJob, a, b int) []int {
		j.between(a, b, faultproxy.Fault{Silent: true}, faultproxy.Fault{})
		return []int{a, b}
	}},
	{"cut off", 1, func(j *chaosJob, a, _ int) []int {
		for _, b := range j.alive {
			if b != a {
				j.between(a, b, faultproxy.Fault{Silent: true}, faultproxy.Fault{Silent: true})
			}
		}
		return []int{a}
	}},
}

// pick chooses one of the faults that a job of a fabric can have.
func pick(rng *rand.Rand, fabric string, ranks int) chaosFault {
	list := slices.Clone(processFaults)
	if fabric == "tcp" {
		list = append(list, networkFaults...)
	}
	if ranks < 5 { // those that are left would be too few to go on
		list = slices.DeleteFunc(list, func(f chaosFault) bool { return f.name == twoDie })
	}
	sum := 0
	for _, f := range list {
		sum += f.weight
	}
	n := rng.IntN(sum)
	for i := 0; ; i++ {
		if n -= list[i].weight; n < 0 {
			return list[i]
		}
	}
}

// secondDeath follows the death of a: when the first survivor knows of it, b is killed,
// and the others have to get over both. What they hear of first is open.
func (j *chaosJob) secondDeath(a, b int) {
	j.t.Helper()
	j.drop(a)
	j.drop(b)
	told := func(r int) (working bool) {
		word, _, rest := j.next(r)
		switch {
		case word == "lost" && (strings.HasPrefix(rest, fmt.Sprintf("%d ", a)) || strings.HasPrefix(rest, fmt.Sprintf("%d ", b))):
			return false
		case word == "working" && strings.HasSuffix(rest, " "+strconv.Itoa(len(j.alive))):
			return true
		}
		j.fatalf("%s: rank %d says %s %s, want one of them blamed and then a group of %d working", j.story, r, word, rest, len(j.alive))
		return false
	}
	told(j.alive[0])
	j.ps[b].Process.Kill()
	for _, r := range j.alive {
		for n := 0; !told(r); n++ {
			if n > 2 {
				j.fatalf("%s: rank %d does not get over it", j.story, r)
			}
		}
	}
}
