package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/freeaddr"
	"thundercollective/internal/leaks"
	"thundercollective/internal/rendezvous/handshake"
)

// hostileToken is the secret of the job that is attacked.
const hostileToken = "secret"

// A hostile connection is one of the ways in which strangers try.
var hostile = []struct {
	name string
	do   func(c net.Conn, recorded []byte)
}{
	{"wrong token", func(c net.Conn, _ []byte) {
		_ = handshake.Dial(c, handshake.Hello{Purpose: handshake.PurposeLink, From: 1, Size: 2, Channel: 2, Streams: 1}, []byte("guess"))
	}},
	{"old generation", func(c net.Conn, _ []byte) {
		_ = handshake.Dial(c, handshake.Hello{Purpose: handshake.PurposeLink, From: 1, Size: 2, Channel: 2, Streams: 1, Generation: 7}, []byte(hostileToken))
	}},
	{"replayed handshake", func(c net.Conn, recorded []byte) {
		_, _ = c.Write(recorded)
		_, _ = io.Copy(io.Discard, c)
	}},
	{"huge lengths", func(c net.Conn, _ []byte) {
		_, _ = c.Write(bytes.Repeat([]byte{0xff}, 1024))
		_, _ = io.Copy(io.Discard, c)
	}},
	{"other protocol", func(c net.Conn, _ []byte) {
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		_, _ = io.Copy(io.Discard, c)
	}},
	{"hangs up", func(c net.Conn, recorded []byte) { _, _ = c.Write(recorded[:len(recorded)/2]) }},
}

// attackRole is a process of strangers. Each line of its input is an attack: how many
// connections, how many a second (0: as fast as it goes), and two addresses in turn.
// It answers each with a line; the first line is the address of a dead end.
func attackRole() int {
	ln, err := deadEnd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer ln.Close()
	fmt.Println(ln.Addr())
	recorded := recordHandshake()
	first := 0
	for {
		var count, rate int
		var addrs [2]string
		if _, err := fmt.Scanln(&count, &rate, &addrs[0], &addrs[1]); err != nil {
			return 0
		}
		attack(first, count, rate, addrs, recorded)
		first += count
		fmt.Println("done")
	}
}

// attack makes connections first to first+count-1.
func attack(first, count, rate int, addrs [2]string, recorded []byte) {
	begun := time.Now()
	var next atomic.Int64
	var attackers sync.WaitGroup
	for range 128 {
		attackers.Go(func() {
			for i := int(next.Add(1)) - 1; i < count; i = int(next.Add(1)) - 1 {
				if rate > 0 {
					time.Sleep(time.Until(begun.Add(time.Duration(i) * time.Second / time.Duration(rate))))
				}
				c, err := net.Dial("tcp", addrs[i%2])
				if err != nil {
					continue // turned away at once, or our own trouble
				}
				_ = c.SetDeadline(time.Now().Add(5 * time.Second))
				hostile[(first+i)%len(hostile)].do(c, recorded)
				c.Close()
			}
		})
	}
	attackers.Wait()
}

// An attacker is that process.
type attacker struct {
	process
	t       *testing.T
	deadEnd string
}

func startAttacker(t *testing.T) *attacker {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=attack")
	a := &attacker{t: t, process: startProcess(t, cmd)}
	a.deadEnd = a.line()
	return a
}

func (a *attacker) line() string {
	a.t.Helper()
	line, err := a.out.ReadString('\n')
	if err != nil {
		a.t.Fatalf("attackers: %q, %v", line, err)
	}
	return strings.TrimSpace(line)
}

// attack has the process attack, and waits for its end.
func (a *attacker) attack(count, rate int, addrs [2]string) {
	a.t.Helper()
	fmt.Fprintln(a.in, count, rate, addrs[0], addrs[1])
	a.line()
}

// deadEnd listens and hangs up, in the attackers' own process: what attacks on it
// cost a job beside it is what the attackers and the system take.
func deadEnd() (net.Listener, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	return ln, nil
}

// TestHostileConnections has ten thousand strangers come while two ranks work, and
// more than may stand at the door that say nothing and stay. The job does not notice,
// and ranks still find in. What it costs is measured against the same attack on a port
// that has nothing to do with the job, in turns; figures are only judged in the soak.
func TestHostileConnections(t *testing.T) {
	count, rate, turns := 10_000, 2000, 10
	soak := os.Getenv("THUNDER_SOAK") != ""
	switch {
	case testing.Short():
		count = 1_000
	case soak:
		rate, turns = 1000, 40
	}
	leaks.Check(t)
	var logged atomic.Int64
	comms, addrs := attackable(t, logTo(func(string) { logged.Add(1) }))
	groups := make([][]*thunder.Comm, 4) // whose links are opened under attack
	for i := range groups {
		groups[i] = make([]*thunder.Comm, len(comms))
		each(t, len(comms), func(r int) (err error) {
			groups[i][r], err = comms[r].Split(t.Context(), 0, r)
			return err
		})
	}
	job := startWork(t, comms)
	strangers := startAttacker(t)
	nobody := [2]string{strangers.deadEnd, strangers.deadEnd}

	var lorises []net.Conn
	for range 300 {
		if c, err := net.Dial("tcp", addrs[0]); err == nil {
			lorises = append(lorises, c)
		}
	}
	defer func() {
		for _, c := range lorises {
			c.Close()
		}
	}()
	before := memory()
	peak := before
	var calm, control, attacked, ratios []float64
	for turn := range turns {
		n := count / turns
		if soak || turn < 2 { // what the figures are compared to
			calm = append(calm, job.during(func() { time.Sleep(time.Duration(n) * time.Second / time.Duration(rate)) }))
			control = append(control, job.during(func() { strangers.attack(n, rate, nobody) }))
		}
		attacked = append(attacked, job.during(func() { strangers.attack(n, rate, addrs) }))
		ratios = append(ratios, attacked[len(attacked)-1]/control[len(control)-1])
		peak = max(peak, memory())
	}
	begun := time.Now()
	flood := job.during(func() {
		var wg sync.WaitGroup
		wg.Go(func() { strangers.attack(count/5, 0, addrs) })
		for _, g := range groups {
			each(t, len(g), func(r int) error { return thunder.Barrier(t.Context(), g[r]) })
		}
		wg.Wait()
	})
	took := time.Since(begun)
	peak = max(peak, memory())
	job.end()

	cost := 1 - middle(ratios)
	t.Logf("%d hostile connections, %d a second; operations per second: %.0f alone, %.0f beside an attack on somebody else, %.0f under attack: "+
		"it costs %.1f %%, %.1f %% with what the attackers take of %d cores; memory grows by %d KiB; %d log lines",
		count, rate, middle(calm), middle(control), middle(attacked),
		100*cost, 100*(1-middle(attacked)/middle(calm)), runtime.NumCPU(), (peak-before)>>10, logged.Load())
	t.Logf("%d more as fast as they come, in %v: %.0f operations per second, while %d links were opened", count/5, took.Round(time.Millisecond), flood, len(groups))
	if peak-before > 64<<20 {
		t.Errorf("the attack costs %d MiB, at most 64 are allowed", (peak-before)>>20)
	}
	if soak && cost > 0.05 {
		t.Errorf("the attack costs %.1f %% of the job's speed, at most 5 are allowed", 100*cost)
	}
}

// attackable returns two ranks over TCP, and where they listen.
func attackable(t *testing.T, log *slog.Logger) (comms []*thunder.Comm, addrs [2]string) {
	t.Helper()
	list := freeaddr.Loopback(t, 2)
	comms = make([]*thunder.Comm, 2)
	each(t, 2, func(r int) (err error) {
		comms[r], err = thunder.Init(t.Context(), thunder.Options{Join: thunder.Join{Rank: r, Size: 2, Addrs: list}, Security: thunder.Security{Token: []byte(hostileToken)}, Transport: thunder.Transport{Fabric: "tcp"}, Diagnostics: thunder.Diagnostics{Logger: log}})
		return err
	})
	if t.Failed() {
		t.FailNow()
	}
	closeAtEnd(t, comms)
	return comms, [2]string(list)
}

// A workload is ranks that reduce until they are told to end.
type workload struct {
	rounds atomic.Int64
	stop   chan struct{}
	ranks  sync.WaitGroup
}

func startWork(t *testing.T, comms []*thunder.Comm) *workload {
	w := &workload{stop: make(chan struct{})}
	for _, c := range comms {
		w.ranks.Go(func() { w.work(t, c) })
	}
	return w
}

// during returns how many operations a second there are while f runs.
func (w *workload) during(f func()) float64 {
	before, begun := w.rounds.Load(), time.Now()
	f()
	return float64(w.rounds.Load()-before) / time.Since(begun).Seconds()
}

func (w *workload) end() {
	close(w.stop)
	w.ranks.Wait()
}

// work reduces until the end, which all ranks see in the same round.
func (w *workload) work(t *testing.T, c *thunder.Comm) {
	buf := make([]int64, 1000)
	for {
		clear(buf)
		select {
		case <-w.stop:
			buf[0] = 1
		default:
		}
		buf[999] = 1
		if err := thunder.AllReduce(context.Background(), c, buf, thunder.Sum); err != nil {
			t.Errorf("rank %d: %v", c.Rank(), err)
			return
		}
		if buf[999] != int64(c.Size()) {
			t.Errorf("rank %d: wrong result", c.Rank())
		}
		if c.Rank() == 0 {
			w.rounds.Add(1)
		}
		if buf[0] > 0 {
			return
		}
	}
}

func middle(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// memory is what this process holds of it.
func memory() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// recordHandshake returns what a dialler with the right token sends in a handshake.
func recordHandshake() []byte {
	a, b := net.Pipe()
	var sent bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = handshake.Accept(b, []byte(hostileToken), func(handshake.Hello) error { return nil })
		b.Close()
	}()
	_ = handshake.Dial(tee{a, &sent}, handshake.Hello{Purpose: handshake.PurposeLink, From: 1, Size: 2, Channel: 2, Streams: 1}, []byte(hostileToken))
	a.Close()
	<-done
	return sent.Bytes()
}

type tee struct {
	net.Conn
	sent *bytes.Buffer
}

func (c tee) Write(b []byte) (int, error) {
	c.sent.Write(b)
	return c.Conn.Write(b)
}
