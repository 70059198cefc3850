//go:build unix

package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"thundercollective/internal/freeaddr"
	"thundercollective/internal/rendezvous"
)

// joinLimit is how far apart the ranks of these jobs may start.
const joinLimit = 6 * time.Second

// TestFaultsWhileJoining does something to a rank while it and the others look for each
// other, at moments that the seed chooses. The others either name it as missing, in the
// time that ranks have to start, or as lost if they had met it by then. Where
// connections only break, all of them come together.
func TestFaultsWhileJoining(t *testing.T) {
	stories := 12
	if testing.Short() {
		stories = 4
	}
	if n, err := strconv.Atoi(os.Getenv("THUNDER_SOAK")); err == nil {
		stories = max(n/10, stories)
	}
	from := uint64(0)
	if s := os.Getenv(seedVar); s != "" {
		from, _ = strconv.ParseUint(s, 10, 64)
		stories = 1
	}
	sideBySide(t, from, func() bool { stories--; return stories >= 0 }, joinStory)
}

// sideBySide tells stories, several at the same time because most of them wait most of
// the time, for as long as more says so and none has failed.
func sideBySide(t *testing.T, seed uint64, more func() bool, story func(t *testing.T, seed uint64)) {
	var mu sync.Mutex
	next := func() (s uint64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		s, ok = seed, !t.Failed() && more()
		seed++
		return s, ok
	}
	atOnce := 3
	if os.Getenv(seedVar) != "" {
		atOnce = 1
	}
	var tellers sync.WaitGroup
	for range atOnce {
		tellers.Go(func() {
			for s, ok := next(); ok; s, ok = next() {
				t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) {
					defer func() {
						if t.Failed() {
							t.Errorf("%s=%d replays it", seedVar, s)
						}
					}()
					story(t, s)
				})
			}
		})
	}
	tellers.Wait()
}

func joinStory(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 4))
	const n = 4
	faults := []string{"kill", "stop", "reset", "never start"}
	fault := faults[seed%uint64(len(faults))]
	fabric := []string{"tcp", "shm"}[rng.IntN(2)]
	victim := rng.IntN(n)
	j := newChaosJob(t)
	coordinated := fault != "reset" && rng.IntN(2) == 0
	j.story = fmt.Sprintf("seed %d: %s of rank %d while joining over %s, coordinated %v", seed, fault, victim, fabric, coordinated)
	envs := joinEnv(t, j, n, coordinated)
	portable, doors := strconv.Itoa(rng.IntN(2)), t.TempDir()
	begun := time.Now()
	for r, env := range envs {
		cmd := exec.Command(os.Args[0])
		if r == victim && fault == "never start" {
			cmd = exec.Command("sleep", "600")
		}
		cmd.Env = append(os.Environ(), roleVar+"=chaos", fmt.Sprintf("THUNDER_RANK=%d", r), "THUNDER_TOKEN=secret",
			"THUNDER_FABRIC="+fabric, "THUNDER_SHM_PORTABLE="+portable, "TMPDIR="+doors, "THUNDER_HEARTBEAT_TIMEOUT="+chaosSilence.String(), "THUNDER_START_TIMEOUT="+joinLimit.String())
		cmd.Env = append(cmd.Env, env...)
		j.start(cmd)
	}
	time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
	switch fault {
	case "kill":
		j.ps[victim].Process.Kill()
	case "stop":
		j.ps[victim].Process.Signal(syscall.SIGSTOP)
	case "reset": // of all connections, for a while
		for range 5 {
			for _, p := range j.via {
				p.Reset()
			}
			time.Sleep(5 * time.Millisecond)
		}
		j.joined()
		return
	}
	j.drop(victim)
	for _, r := range j.alive {
		j.blamesMissing(r, victim)
	}
	t.Logf("%s: all know after %v", j.story, time.Since(begun).Round(10*time.Millisecond))
}

// joinEnv is what each rank needs to know to find the others.
func joinEnv(t *testing.T, j *chaosJob, n int, coordinated bool) [][]string {
	t.Helper()
	envs := make([][]string, n)
	if coordinated {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan struct{})
		go func() {
			defer close(served)
			rendezvous.Serve(t.Context(), ln, rendezvous.ServerConfig{Size: n, Token: []byte("secret"), Timeout: joinLimit - 2*time.Second})
		}()
		t.Cleanup(func() { <-served })
		for r := range envs {
			envs[r] = []string{"THUNDER_COORDINATOR=" + ln.Addr().String(), "THUNDER_COORDINATOR_SERVED=1", fmt.Sprintf("THUNDER_WORLD_SIZE=%d", n)}
		}
		return envs
	}
	addrs := freeaddr.Loopback(t, n)
	for r := range envs {
		envs[r] = []string{"THUNDER_TEST_ADDRS=" + strings.Join(j.proxied(addrs, r), ",")}
	}
	return envs
}

// blamesMissing waits until a rank says that another one is missing or lost.
func (j *chaosJob) blamesMissing(r, victim int) {
	j.t.Helper()
	for {
		word, _, rest := j.next(r)
		switch {
		case word == "working": // they had met, all of them
		case word == "missing" && rest == fmt.Sprintf("[%d]", victim):
			return
		case word == "lost" && strings.HasPrefix(rest, strconv.Itoa(victim)+" "):
			return
		default:
			j.fatalf("%s: rank %d says %s %s", j.story, r, word, rest)
		}
	}
}

// joined checks what becomes of ranks whose connections broke while they joined. Those
// that were still on their way come together; a connection that one end took for made
// is lost as it would be later.
func (j *chaosJob) joined() {
	j.t.Helper()
	for _, r := range j.alive {
		if word, _, rest := j.next(r); word != "working" && word != "lost" && word != "missing" {
			j.fatalf("%s: rank %d says %s %s", j.story, r, word, rest)
		}
	}
}
