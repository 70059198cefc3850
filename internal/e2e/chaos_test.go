//go:build unix

package e2e_test

import (
	"bufio"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"thundercollective/internal/faultproxy"
	"thundercollective/internal/freeaddr"
	"thundercollective/internal/patience"
)

// chaosSilence is what ranks of real faults are given to be heard of.
const chaosSilence = 2 * time.Second

// chaosLimit bounds what the test waits for, by the time that the machine gave the job.
// How long things take is logged.
const chaosLimit = 30 * time.Second

// A chaosJob is ranks in processes of their own, with a proxy on every path.
type chaosJob struct {
	t     *testing.T
	ps    []process
	lines []chan string
	via   map[[2]int]*faultproxy.Proxy // by the rank that dials and the one it dials
	alive []int
	story string

	pulse   *patience.Pulse       // of the proxies
	late    map[int]time.Duration // by how much timers of ranks were late since the last fault
	stopped map[int]bool          // ranks whose timers are late because they were stopped
}

// starvedAfter is when a process that did not run explains a silence that was too long:
// heartbeats pass through three, and five are sent in that time.
const starvedAfter = chaosSilence / 5

// newChaosJob returns a job without ranks.
func newChaosJob(t *testing.T) *chaosJob {
	j := &chaosJob{t: t, via: map[[2]int]*faultproxy.Proxy{}, pulse: patience.NewPulse(chaosSilence / 40), late: map[int]time.Duration{}, stopped: map[int]bool{}}
	t.Cleanup(j.pulse.Stop)
	return j
}

// fatalf ends the test: it has failed, unless the machine did not let some process run.
// Nobody can tell that from death; the test is skipped then.
func (j *chaosJob) fatalf(format string, args ...any) {
	j.t.Helper()
	time.Sleep(chaosSilence / 2) // for ranks to say what they have to say
	for r, lines := range j.lines {
		for len(lines) > 0 {
			line := <-lines
			j.noteLate(r, line)
			j.t.Logf("rank %d says %s", r, line)
		}
	}
	own := j.pulse.Worst()
	if worst := slices.Max(append(slices.Collect(maps.Values(j.late)), own)); worst > starvedAfter {
		j.t.Skipf("SKIPPED: the machine did not let a process run for %v; so "+format, append([]any{worst}, args...)...)
	}
	j.t.Fatalf(format, args...)
}

// noteLate remembers by how much a rank's timers were late, and returns what else it says.
func (j *chaosJob) noteLate(r int, line string) (word string, at time.Time, rest string, ok bool) {
	word, line, _ = strings.Cut(line, " ")
	when, rest, _ := strings.Cut(line, " ")
	var nanos int64
	var late time.Duration
	if _, err := fmt.Sscanf(when, "%d@%d", &nanos, &late); err != nil {
		return word, at, line, false
	}
	if !j.stopped[r] {
		j.late[r] = max(j.late[r], late)
	}
	return word, time.Unix(0, nanos), rest, true
}

// startChaos starts a job whose ranks meet at proxies.
func startChaos(t *testing.T, n int, seed uint64, env ...string) *chaosJob {
	t.Helper()
	j := newChaosJob(t)
	addrs := freeaddr.Loopback(t, n)
	for r := range n {
		list := j.proxied(addrs, r)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVar+"=chaos", fmt.Sprintf("THUNDER_RANK=%d", r), "THUNDER_TOKEN=secret", "THUNDER_FABRIC=tcp",
			"THUNDER_TEST_ADDRS="+strings.Join(list, ","), fmt.Sprintf("THUNDER_TEST_SEED=%d", seed),
			"THUNDER_HEARTBEAT_TIMEOUT="+chaosSilence.String(), "THUNDER_TIMEOUT=20s", "THUNDER_CHECKSUM=1")
		cmd.Env = append(cmd.Env, env...)
		j.start(cmd)
	}
	return j
}

// proxied returns the addresses as a rank is told them: the higher rank dials, and
// finds a proxy there.
func (j *chaosJob) proxied(addrs []string, r int) []string {
	j.t.Helper()
	list := slices.Clone(addrs)
	for to := range r {
		p, err := faultproxy.New(addrs[to])
		if err != nil {
			j.t.Fatal(err)
		}
		j.t.Cleanup(p.Close)
		j.via[[2]int{r, to}] = p
		list[to] = p.Addr()
	}
	return list
}

// start adds a rank.
func (j *chaosJob) start(cmd *exec.Cmd) {
	j.t.Helper()
	p := startProcess(j.t, cmd)
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(p.out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	j.alive = append(j.alive, len(j.ps))
	j.ps = append(j.ps, p)
	j.lines = append(j.lines, lines)
}

// next returns what a rank says next: its first word, when, and the rest.
func (j *chaosJob) next(r int) (word string, at time.Time, rest string) {
	j.t.Helper()
	ctx, cancel := patience.Context(j.t.Context(), chaosLimit)
	defer cancel()
	select {
	case line, ok := <-j.lines[r]:
		if !ok {
			j.fatalf("%s: rank %d ended", j.story, r)
		}
		word, at, rest, ok = j.noteLate(r, line)
		if !ok {
			j.fatalf("%s: rank %d says %q", j.story, r, line)
		}
		return word, at, rest
	case <-ctx.Done():
		j.fatalf("%s: rank %d says nothing", j.story, r)
	}
	return
}

// working waits until all that are left work, in a group of their number.
func (j *chaosJob) working() {
	j.t.Helper()
	for _, r := range j.alive {
		if word, _, rest := j.next(r); word != "working" || !strings.HasSuffix(rest, " "+strconv.Itoa(len(j.alive))) {
			j.fatalf("%s: rank %d says %s %s, want a group of %d working", j.story, r, word, rest, len(j.alive))
		}
	}
}

// expectLoss waits until every rank has named the same of the ranks to blame, and
// returns it, with the longest time it took.
func (j *chaosJob) expectLoss(since time.Time, blame []int, except int) (culprit int, took time.Duration, cause string) {
	j.t.Helper()
	culprit = -1
	for _, r := range j.alive {
		if r == except {
			continue
		}
		word, at, rest := j.next(r)
		rank, why, _ := strings.Cut(rest, " ")
		named, err := strconv.Atoi(rank)
		if word != "lost" || err != nil || !slices.Contains(blame, named) || culprit >= 0 && named != culprit {
			j.fatalf("%s: rank %d says %s %s; want one of %v blamed, the same as by others (%d)", j.story, r, word, rest, blame, culprit)
		}
		culprit, took = named, max(took, at.Sub(since))
		if r != named {
			cause = why
		}
	}
	return culprit, took, cause
}

// drop forgets a rank that was killed or expelled.
func (j *chaosJob) drop(r int) {
	j.alive = slices.DeleteFunc(j.alive, func(x int) bool { return x == r })
}

// end lets the rest stop in good order, and checks that they do.
func (j *chaosJob) end() {
	j.t.Helper()
	for _, r := range j.alive {
		j.ps[r].in.Close()
	}
	for _, r := range j.alive {
		if line, ok := <-j.lines[r]; ok {
			j.fatalf("%s: at the end rank %d says %s", j.story, r, line)
		}
		if err := j.ps[r].Wait(); err != nil {
			j.fatalf("%s: at the end rank %d: %v", j.story, r, err)
		}
	}
}

// between applies a fault to each direction between two ranks.
func (j *chaosJob) between(a, b int, there, back faultproxy.Fault) {
	if a < b {
		a, b, there, back = b, a, back, there
	}
	j.via[[2]int{a, b}].Set(faultproxy.There, there)
	j.via[[2]int{a, b}].Set(faultproxy.Back, back)
}

// TestRealFaults does a hundred things to real processes, several to each job: after
// each, all survivors name the same true culprit, or nobody where nothing was lost,
// and go on with those that are left. Every third job shares memory.
func TestRealFaults(t *testing.T) {
	want := 100
	if testing.Short() {
		want = 12
	}
	if n, err := strconv.Atoi(os.Getenv("THUNDER_SOAK")); err == nil {
		want = n
	}
	from := uint64(0)
	if s := os.Getenv(seedVar); s != "" {
		from, _ = strconv.ParseUint(s, 10, 64)
		want = 1
	}
	times := map[string][]time.Duration{}
	var mu sync.Mutex
	done, starved := 0, 0
	more := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return done < want && starved <= 5
	}
	sideBySide(t, from, more, func(t *testing.T, seed uint64) {
		took := map[string][]time.Duration{}
		faults := 0
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			done += faults
			if t.Skipped() {
				starved++
			}
			for name, list := range took {
				times[name] = append(times[name], list...)
			}
		}()
		faults = chaosStory(t, seed, took)
	})
	if starved > 5 {
		t.Error("the machine does not let processes run: too many stories ended by that")
	}
	t.Logf("%d faults", done)
	for _, name := range slices.Sorted(maps.Keys(times)) {
		t.Logf("%s: every survivor's error after %v", name, spread(times[name]))
	}
}

// spread describes a distribution.
func spread(list []time.Duration) string {
	at := func(p int) time.Duration { return percentile(list, p).Round(time.Millisecond) }
	return fmt.Sprintf("%v in the middle, p90 %v, p99 %v, at most %v (%d times)", at(50), at(90), at(99), at(100), len(list))
}

func percentile(list []time.Duration, p int) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[min(len(list)*p/100, len(list)-1)]
}

// chaosStory is one job and what is done to it, until too few ranks are left.
func chaosStory(t *testing.T, seed uint64, times map[string][]time.Duration) (faults int) {
	rng := rand.New(rand.NewPCG(seed, 2))
	fabric := "tcp"
	if seed%3 == 2 {
		fabric = "shm"
	}
	j := startChaos(t, 6, seed, "THUNDER_FABRIC="+fabric, "THUNDER_SHM_PORTABLE="+strconv.FormatUint(seed%2, 10))
	j.story = fmt.Sprintf("seed %d: start over %s", seed, fabric)
	j.working()
	for len(j.alive) > 2 {
		i := rng.IntN(len(j.alive))
		a, b := j.alive[i], j.alive[(i+1+rng.IntN(len(j.alive)-1))%len(j.alive)]
		fault := pick(rng, fabric, len(j.alive))
		j.story = fmt.Sprintf("seed %d: %s of ranks %d and %d of %v over %s", seed, fault.name, a, b, j.alive, fabric)
		begun := time.Now()
		clear(j.late)
		j.pulse.Worst()
		j.stopped[a] = fault.name == "stop"
		blame := fault.do(j, a, b)
		faults++
		if blame == nil {
			continue // whoever is blamed for it shows at the next fault
		}
		if fault.name == twoDie {
			j.secondDeath(a, b)
			continue
		}
		except := -1
		if fault.name == "kill" || fault.name == "stop" {
			except = a
		}
		culprit, took, _ := j.expectLoss(begun, blame, except)
		times[fault.name] = append(times[fault.name], took)
		if fault.name == "stop" { // it learns of its fate when it goes on
			j.ps[a].Process.Signal(syscall.SIGCONT)
			if word, _, rest := j.next(a); word != "lost" || !strings.HasPrefix(rest, strconv.Itoa(a)+" ") {
				j.fatalf("%s: the rank that was stopped says %s %s", j.story, word, rest)
			}
		}
		if fault.name != "kill" {
			if word, _, rest := j.next(culprit); word != "expelled" {
				j.fatalf("%s: rank %d says %s %s, but it is not in the group any more", j.story, culprit, word, rest)
			}
		}
		j.drop(culprit)
		j.working()
	}
	j.end()
	return faults
}

// TestKilledEight kills rank after rank of a job of eight, and logs how long it takes
// until every survivor knows.
func TestKilledEight(t *testing.T) {
	jobs := 2
	if testing.Short() {
		jobs = 1
	}
	if n, err := strconv.Atoi(os.Getenv("THUNDER_SOAK")); err == nil {
		jobs = max(n/10, 1)
	}
	var times []time.Duration
	for seed := range uint64(jobs) {
		rng := rand.New(rand.NewPCG(seed, 3))
		j := startChaos(t, 8, seed)
		j.story = fmt.Sprintf("seed %d: start", seed)
		j.working()
		for len(j.alive) > 3 {
			victim := j.alive[rng.IntN(len(j.alive))]
			j.story = fmt.Sprintf("seed %d: kill rank %d of %v", seed, victim, j.alive)
			killed := time.Now()
			j.ps[victim].Process.Kill()
			_, took, _ := j.expectLoss(killed, []int{victim}, victim)
			times = append(times, took)
			j.drop(victim)
			j.working()
		}
		j.end()
	}
	t.Logf("the last survivor's error after %s", spread(times))
	if p99 := percentile(times, 99); os.Getenv("THUNDER_SOAK") != "" && p99 > 300*time.Millisecond {
		t.Errorf("p99 is %v, 300 ms are promised", p99)
	}
}

// TestNoFalseAlarm has four ranks per core work for longer than it takes to be taken
// for dead, next to programs that take all the processors they can get.
func TestNoFalseAlarm(t *testing.T) {
	for range runtime.NumCPU() { // in processes of their own: the proxies are in this one
		startProcess(t, exec.Command("sh", "-c", "while :; do :; done"))
	}
	n := min(4*runtime.NumCPU(), 16)
	for range 3 {
		starved := false
		t.Run("job", func(t *testing.T) {
			defer func() { starved = t.Skipped() }()
			j := startChaos(t, n, 2) // whose first round is that of large buffers
			j.story = fmt.Sprintf("%d ranks on %d processors", n, runtime.NumCPU())
			j.working()
			select {
			case <-time.After(2 * chaosSilence):
			case line := <-j.lines[0]:
				j.noteLate(0, line)
				j.fatalf("%s: rank 0 says %s", j.story, line)
			}
			j.end()
		})
		if !starved {
			return
		}
	}
	t.Fatal("the machine does not let ranks run, three times")
}
