package thunder_test

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/rendezvous/handshake"
)

// A hostile connection is one of the ways in which strangers try.
var hostile = []struct {
	name string
	do   func(c net.Conn, recorded []byte)
}{
	{"wrong token", func(c net.Conn, _ []byte) {
		_ = handshake.Dial(c, handshake.Hello{Purpose: handshake.PurposeLink, From: 1, Size: 2, Channel: 2, Streams: 1}, []byte("guess"))
	}},
	{"old generation", func(c net.Conn, _ []byte) {
		_ = handshake.Dial(c, handshake.Hello{Purpose: handshake.PurposeLink, From: 1, Size: 2, Channel: 2, Streams: 1, Generation: 7}, []byte("secret"))
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

// TestHostileConnections has ten thousand strangers come while two ranks work, and a
// few hundred that say nothing and stay. The job does not notice.
func TestHostileConnections(t *testing.T) {
	count := 10_000
	if testing.Short() {
		count = 1_000
	}
	checkGoroutines(t)
	addrs := freeAddrs(t, 2)
	recorded := recordHandshake(t)
	comms := make([]*thunder.Comm, 2)
	each(t, 2, func(r int) (err error) {
		comms[r], err = thunder.Init(t.Context(), thunder.Options{Rank: r, Size: 2, Addrs: addrs, Token: []byte("secret"), Fabric: "tcp"})
		return err
	})
	if t.Failed() {
		t.FailNow()
	}
	closeAtEnd(t, comms)

	var rounds atomic.Int64
	stop := make(chan struct{})
	var job sync.WaitGroup
	for r := range comms {
		job.Go(func() { work(t, comms[r], &rounds, stop) })
	}
	rate := func(d time.Duration) float64 { // of operations, over a while
		before, begun := rounds.Load(), time.Now()
		time.Sleep(d)
		return float64(rounds.Load()-before) / time.Since(begun).Seconds()
	}
	calm := rate(500 * time.Millisecond)
	var lorises []net.Conn
	for range 300 { // more than may stand at the door
		if c, err := net.Dial("tcp", addrs[0]); err == nil {
			lorises = append(lorises, c)
		}
	}
	silent := rate(500 * time.Millisecond)

	base := heap()
	var mu sync.Mutex
	peak := base // under mu
	before, begun := rounds.Load(), time.Now()
	var next atomic.Int64
	var attackers sync.WaitGroup
	for range 32 {
		attackers.Go(func() {
			for i := next.Add(1); i <= int64(count); i = next.Add(1) {
				c, err := net.Dial("tcp", addrs[i%2])
				if err != nil {
					continue // out of ports for a moment: that is our own trouble
				}
				_ = c.SetDeadline(time.Now().Add(5 * time.Second))
				hostile[i%int64(len(hostile))].do(c, recorded)
				c.Close()
				if i%500 == 0 {
					mu.Lock()
					peak = max(peak, heap())
					mu.Unlock()
				}
			}
		})
	}
	attackers.Wait()
	attacked := float64(rounds.Load()-before) / time.Since(begun).Seconds()
	took := time.Since(begun)
	close(stop)
	job.Wait()
	for _, c := range lorises {
		c.Close()
	}
	t.Logf("%d hostile connections in %v; operations per second: %.0f alone, %.0f with 300 silent strangers, %.0f under attack, which has its own share of %d cores; heap %d KiB more",
		count, took.Round(time.Millisecond), calm, silent, attacked, runtime.NumCPU(), (peak-base)>>10)
	if peak-base > 64<<20 {
		t.Errorf("the attack costs %d MiB, at most 64 are allowed", (peak-base)>>20)
	}
}

// work reduces until stop is closed, for both ranks in the same round.
func work(t *testing.T, c *thunder.Comm, rounds *atomic.Int64, stop <-chan struct{}) {
	buf := make([]int64, 1000)
	for {
		clear(buf)
		select {
		case <-stop:
			buf[0] = 1
		default:
		}
		buf[999] = 1
		if err := thunder.AllReduce(t.Context(), c, buf, thunder.Sum); err != nil {
			t.Errorf("rank %d: %v", c.Rank(), err)
			return
		}
		if buf[999] != 2 {
			t.Errorf("rank %d: wrong result", c.Rank())
		}
		if c.Rank() == 0 {
			rounds.Add(1)
		}
		if buf[0] > 0 {
			return
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// recordHandshake returns what a dialler with the right token sends in a handshake.
func recordHandshake(t *testing.T) []byte {
	a, b := net.Pipe()
	var sent bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = handshake.Accept(b, []byte("secret"), func(handshake.Hello) error { return nil })
		b.Close()
	}()
	_ = handshake.Dial(tee{a, &sent}, handshake.Hello{Purpose: handshake.PurposeLink, From: 1, Size: 2, Channel: 2, Streams: 1}, []byte("secret"))
	a.Close()
	<-done
	if sent.Len() == 0 {
		t.Fatal("nothing recorded")
	}
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
