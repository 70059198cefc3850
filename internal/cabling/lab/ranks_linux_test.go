package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	thunder "thundercollective"
	"thundercollective/internal/cabling/lab"
)

// rankVar makes a process of this test a rank: what it does is in its arguments.
const rankVar = "THUNDER_LAB_TASK"

func TestMain(m *testing.M) {
	if task := os.Getenv(rankVar); task != "" {
		if err := rank(task); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A task is what the ranks of one job do, all of them the same.
type task struct {
	Rank    int
	Addrs   []string
	Edges   string
	Do      string // allreduce, pingpong, oneway, alltoall
	Elems   int    // float32s
	Iters   int
	Signal  int // after this iteration rank 0 says so, and waits for a line
	Streams int
	Algo    string // "" for auto
	Rails   int    // 1: the first cable alone
	Relay   int    // the rank that says on stderr what it had in memory for others; 0 for none
	Die     bool   // as soon as it had something

	Coordinator string // where the ranks meet, each with its own Addrs alone; "" for lists
}

// A report is what rank 0 measured.
type report struct {
	Secs  float64 // of all iterations but the first
	Each  []float64
	Rails []thunder.Rail
	Hosts []string // by rank
	Wrong int
}

// rank is one rank of a job.
func rank(text string) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	algo := thunder.Auto
	if t.Algo != "" {
		var err error
		if algo, err = thunder.ParseAlgo(t.Algo); err != nil {
			return err
		}
	}
	join := thunder.Join{Rank: t.Rank, Size: len(t.Addrs), Addrs: t.Addrs, Edges: t.Edges}
	if t.Coordinator != "" {
		join.Coordinator, join.Addrs = t.Coordinator, t.Addrs[t.Rank:t.Rank+1]
	}
	c, err := thunder.Init(ctx, thunder.Options{
		Join:      join,
		Transport: thunder.Transport{Fabric: "tcp", Streams: t.Streams},
		Security:  thunder.Security{Insecure: true},
		Tuning:    thunder.Tuning{Algo: algo}, HeartbeatTimeout: 20 * time.Second,
		Diagnostics: thunder.Diagnostics{Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))},
	})
	if err != nil {
		return err
	}
	defer c.Close()
	r, held := report{}, memory{}
	buf := make([]float32, t.Elems)
	last := len(t.Addrs) - 1
	for i := range t.Iters + 1 {
		for k := range buf {
			buf[k] = float32((t.Rank + 1) * (k%1000 + i%8))
		}
		if err := thunder.Barrier(ctx, c); err != nil {
			return err
		}
		begin := time.Now()
		stop := func() {}
		if t.Relay == t.Rank && t.Relay > 0 {
			stop = held.watch(t.Die)
		}
		sum := 0
		for r := range t.Addrs {
			sum += r + 1
		}
		switch t.Do {
		case "allreduce":
			err = thunder.AllReduce(ctx, c, buf, thunder.Sum)
		case "pingpong", "oneway":
			sum = 1
			switch {
			case t.Rank == 0:
				if err = thunder.Send(ctx, c, buf, last); err == nil && t.Do == "pingpong" {
					err = thunder.Recv(ctx, c, buf, last)
				} else if err == nil {
					err = thunder.Recv(ctx, c, buf[:1], last)
				}
			case t.Rank == last:
				if err = thunder.Recv(ctx, c, buf, 0); err == nil && t.Do == "pingpong" {
					err = thunder.Send(ctx, c, buf, 0)
				} else if err == nil {
					err = thunder.Send(ctx, c, buf[:1], 0)
				}
			default:
				sum = t.Rank + 1
			}
		case "alltoall":
			got := make([]float32, len(buf))
			err = thunder.AllToAll(ctx, c, got, buf)
			n := len(buf) / len(t.Addrs)
			for k := range got {
				from, at := k/n, t.Rank*n+k%n
				if got[k] != float32((from+1)*(at%1000+i%8)) {
					r.Wrong++
				}
			}
			sum = t.Rank + 1
		}
		took := time.Since(begin).Seconds()
		if t.Relay > 0 && err == nil { // until the message has passed
			err = thunder.Barrier(ctx, c)
		}
		stop()
		if lost, ok := errors.AsType[*thunder.PeerLostError](err); ok {
			fmt.Fprintf(os.Stderr, "lost rank %d on %s, %s\n", lost.Rank, lost.Host, lost.Link)
		}
		if err != nil {
			return fmt.Errorf("rank %d, iteration %d: %w", t.Rank, i, err)
		}
		for k := range buf {
			if buf[k] != float32(sum*(k%1000+i%8)) {
				r.Wrong++
			}
		}
		if i > 0 {
			r.Secs += took
			r.Each = append(r.Each, took)
		}
		if t.Rank == 0 && t.Signal > 0 && i%t.Signal == 0 {
			fmt.Println("at", i)
			var line string
			fmt.Scanln(&line)
		}
	}
	if r.Wrong > 0 {
		return fmt.Errorf("rank %d: %d wrong elements", t.Rank, r.Wrong)
	}
	r.Rails = c.Rails()
	for rank := range c.Size() {
		r.Hosts = append(r.Hosts, c.Host(rank))
	}
	if t.Rank == t.Relay && t.Relay > 0 {
		out, _ := json.Marshal(held)
		fmt.Fprintf(os.Stderr, "held %s\n", out)
	}
	if t.Rank == 0 {
		out, _ := json.Marshal(r)
		fmt.Printf("report %s\n", out)
	}
	return thunder.Barrier(ctx, c)
}

// command is one rank of a task, which writes its log to log.
func command(t *testing.T, l *lab.Lab, k task, rank int, log *bytes.Buffer) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k.Rank = rank
	text, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	cmd := l.Command(rank, self)
	cmd.Env = append(os.Environ(), rankVar+"="+string(text))
	cmd.Stderr = log
	return cmd
}

// play runs a task on all hosts of a lab and returns what rank 0 measured. at is
// called when rank 0 has done an iteration that it stops after.
func play(t *testing.T, l *lab.Lab, k task, at func(i int)) (report, string) {
	t.Helper()
	k.Addrs = l.Addrs(7400)
	if k.Rails == 1 { // the first cable alone
		k.Addrs = []string{l.Addr(0, 0) + ":7400", l.Addr(0, 1) + ":7400"}
	}
	logs := make([]bytes.Buffer, len(k.Addrs))
	var others []*exec.Cmd
	for r := 1; r < len(k.Addrs); r++ {
		cmd := command(t, l, k, r, &logs[r])
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		others = append(others, cmd)
	}
	first := command(t, l, k, 0, &logs[0])
	in, _ := first.StdinPipe()
	out, _ := first.StdoutPipe()
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	var r report
	var line bytes.Buffer
	one := make([]byte, 1)
	for {
		if _, err := out.Read(one); err != nil {
			break
		}
		if one[0] != '\n' {
			line.WriteByte(one[0])
			continue
		}
		text := line.String()
		line.Reset()
		if n, ok := strings.CutPrefix(text, "at "); ok {
			i, _ := strconv.Atoi(n)
			if at != nil {
				at(i)
			}
			fmt.Fprintln(in, "on")
		}
		if body, ok := strings.CutPrefix(text, "report "); ok {
			if err := json.Unmarshal([]byte(body), &r); err != nil {
				t.Error(err)
			}
		}
	}
	failed := false
	for _, cmd := range append(others, first) {
		if err := cmd.Wait(); err != nil {
			failed = true
			t.Errorf("%v: %v", cmd.Args[len(cmd.Args)-1], err)
		}
	}
	var all strings.Builder
	for i := range logs {
		fmt.Fprintf(&all, "rank %d: %s\n", i, logs[i].String())
	}
	if failed {
		t.Fatal(all.String())
	}
	return r, all.String()
}
